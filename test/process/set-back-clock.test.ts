/** What a process keeps for a while it keeps no longer where the wall clock is set back (docs/contract.md#cached-answers). */
import { beforeEach, expect, it } from 'vitest'
import { SqlFault } from '../../src/core/sql/fault.ts'
import type { SqlDriver } from '../../src/ports/database.ts'
import { createProviderProtocol } from '../../src/services/accounts/provider-protocol.ts'
import { createKeyUse } from '../../src/services/caller/key-use.ts'
import { createSnapshotRecheck } from '../../src/services/data/snapshot-recheck.ts'
import { createAnswerCache } from '../../src/sources/answer-cache.ts'
import { withCircuitBreaker } from '../../src/sources/circuit-breaker.ts'

let now: number
let elapsed: number
const clock = { now: () => now, elapsed: () => elapsed }

beforeEach(() => {
  now = 1_000_000_000
  elapsed = 0
})

/** Time goes by; the wall clock is set back by an hour meanwhile. */
function wait(milliseconds: number): void {
  now += milliseconds - 3_600_000
  elapsed += milliseconds
}

const faulty = (): Promise<never> => Promise.reject(new Error('is not part of this test'))

it('cached answers of connectors', () => {
  const cache = createAnswerCache({ clock, timeToLive: 1_000 })
  const answer = { records: [], count: undefined }
  cache.keeping('a')(answer)

  wait(999)
  const young = cache.get('a')
  wait(1)

  expect([young, cache.get('a')]).toEqual([answer, undefined])
})

it('a circuit breaker that is open', async () => {
  let calls = 0
  const query = async () => {
    calls += 1
    throw new SqlFault('nobody answers', { state: '08000' })
  }
  const driver = withCircuitBreaker({ query, batch: faulty, close: faulty }, clock)
  const ask = () => driver.query({ text: 'select 1', params: [] }).catch(() => {})
  for (let count = 0; count < 10; count += 1) await ask()
  const opened = calls

  wait(500)
  await ask()

  expect([opened, calls]).toEqual([5, 6])
})

it('the metadata of a provider of sign-in', async () => {
  let calls = 0
  const issuer = 'https://login.test'
  const fetch = async () => {
    calls += 1
    return Response.json({ issuer, authorization_endpoint: `${issuer}/authorize` })
  }
  const protocol = createProviderProtocol({
    clock,
    providerGate: { refusal: () => undefined, fetch, stream: faulty },
    vault: { seal: faulty, open: faulty, reseal: faulty },
  })
  const claims = { subject: 'sub', name: 'name', email: 'email', emailVerified: 'email_verified' }
  const provider = {
    ...{ id: '1', name: 'one', clientId: 'client', sealedClientSecret: '', scopes: ['openid'], enabled: true },
    server: { kind: 'openid', issuer, claims } as const,
    autoJoin: null,
  }
  const begin = () => protocol.authorizationUrl(provider, protocol.newKeys('https://service.test/callback'))
  await begin()
  await begin()
  const first = calls

  wait(10 * 60_000)
  await begin()

  expect([first, calls]).toEqual([1, 2])
})

it('the last use of an API key', async () => {
  let writes = 0
  const query = async () => {
    writes += 1
    return []
  }
  const database: SqlDriver = { query, batch: faulty, close: faulty }
  const use = createKeyUse({ clock, database, observe: () => {} })
  await use.seen('key')
  await use.seen('key')
  const first = writes

  wait(60_000)
  await use.seen('key')

  expect([first, writes]).toEqual([1, 2])
})

it('the pause before versions are read again', async () => {
  const pauses: number[] = []
  const lookAgain = createSnapshotRecheck({
    clock,
    workspaces: {
      withMigrationLock: faulty,
      snapshot: async () => undefined,
      remembered: () => undefined,
      changed: faulty,
    },
    licensing: { pause: async (milliseconds: number) => void pauses.push(milliseconds) } as never,
  })
  await lookAgain('workspace')

  wait(20)
  await lookAgain('workspace')

  expect(pauses).toEqual([30])
})
