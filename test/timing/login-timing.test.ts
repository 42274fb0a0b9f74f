/**
 * docs/contract.md#sessions: no time tells whether an account exists. Measured at the use case, on a real database,
 * with the real hash at a lower cost: what differs besides the hash shows all the more. That an unknown account costs a
 * whole hash at any cost is a law of the Passwords port.
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSignIn, type SignIn } from '../support/service/sign-in.ts'

const known = 'admin@example.com'
const SAMPLES = 200
const MOST_ROUNDS = 4
/** An account can be tried in vain so often from one address. */
const FAILURES = 5

let service: SignIn

beforeAll(async () => {
  service = await openSignIn({
    SERVICE_ADMIN__EMAIL: known,
    SERVICE_ADMIN__PASSWORD: randomBytes(12).toString('base64url'),
  })
})

afterAll(() => service?.close())

it(`a two-sample test over ${SAMPLES} sign-ins cannot tell an unknown account from a known one`, async () => {
  for (let index = 0; index < 2 * FAILURES; index += 1) await login(index % 2 === 0 ? known : 'warm', 'warm')

  const scores = await scoresOf((round, index) => {
    const address = `${round}.${Math.floor(index / FAILURES)}`
    return { ofKnown: () => login(known, address), ofUnknown: () => login(`nobody.${round}@example.com`, address) }
  })

  expect(Math.min(...scores), `scores ${scores}`).toBeLessThan(NOT_TOLD_APART)
})

it(`nor over ${SAMPLES} requests for a new password`, async () => {
  await service.database.query({
    text: `insert into service."user" (id, email)
      select gen_random_uuid(), 'known.' || n || '@example.com' from generate_series(1, ${MOST_ROUNDS * SAMPLES}) n`,
    params: [],
  })

  const scores = await scoresOf((round, index) => {
    const [number, address] = [round * SAMPLES + index + 1, `${round}.${Math.floor(index / 50)}`]
    const [one, other] = [`known.${number}@example.com`, `nobody.${number}@example.com`]
    return { ofKnown: () => requestReset(one, address), ofUnknown: () => requestReset(other, address) }
  })

  expect(Math.min(...scores), `scores ${scores}`).toBeLessThan(NOT_TOLD_APART)
  expect((await service.mails()).length).toBeGreaterThanOrEqual(SAMPLES / 2)
})

it('the two-sample test tells apart what differs', () => {
  const one = Array.from({ length: 100 }, (_, index) => index)
  const other = one.map((value) => value + 25)

  expect(Math.abs(rankScore(one, one))).toBeLessThan(0.01)
  expect(Math.abs(rankScore(one, other))).toBeGreaterThan(NOT_TOLD_APART)
})

/** Of a standard normal distribution: samples of one and the same population are further apart once in a hundred times. */
const NOT_TOLD_APART = 2.58

type Timed = () => Promise<number>

/** Round after round until one is good enough: in pairs, in an order drawn by lot, one after the other. */
async function scoresOf(
  pair: (round: number, index: number) => { readonly ofKnown: Timed; readonly ofUnknown: Timed },
): Promise<readonly number[]> {
  const scores: number[] = []
  while (scores.length < MOST_ROUNDS && !scores.some((score) => score < NOT_TOLD_APART)) {
    const times: [number[], number[]] = [[], []]
    for (let index = 0; index < SAMPLES / 2; index += 1) {
      const { ofKnown, ofUnknown } = pair(scores.length, index)
      const isUnknownFirst = randomBytes(1).readUInt8() % 2 === 0
      if (isUnknownFirst) times[1].push(await ofUnknown())
      times[0].push(await ofKnown())
      if (!isUnknownFirst) times[1].push(await ofUnknown())
    }
    scores.push(Math.abs(rankScore(...times)))
  }
  return scores
}

async function login(email: string, address: string): Promise<number> {
  const start = performance.now()
  const attempt = { email, password: 'not the password', address, userAgent: undefined }
  const [end] = await Promise.allSettled([service.sessions.login(attempt)])
  const milliseconds = performance.now() - start
  expect(end).toMatchObject({ status: 'rejected', reason: { kind: 'unauthenticated', message: 'Invalid credentials' } })
  return milliseconds
}

/** Whatever goes on after the answer is let end, so that it does not count for the next. */
async function requestReset(email: string, address: string): Promise<number> {
  const start = performance.now()
  await service.passwords.requestReset(email, { address, origin: 'http://127.0.0.1' })
  const milliseconds = performance.now() - start
  await service.mails()
  return milliseconds
}

/** The Mann-Whitney test: U as its distance from the expected value, in standard deviations. */
function rankScore(one: readonly number[], other: readonly number[]): number {
  const wins = one.flatMap((a) => other.map((b) => (a > b ? 1 : a === b ? 0.5 : 0)))
  const u = wins.reduce<number>((sum, win) => sum + win, 0)
  const [n, m] = [one.length, other.length]
  return (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12)
}
