/**
 * docs/contract.md#passwords: what comes to its end while, or after, a password is reset does not stay in; and how long
 * a token counts.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { timeOrderedIds } from '../../src/platform/ids.ts'
import { quickHashing } from '../support/service/quick-hashing.ts'
import { openSignIn, type SignIn } from '../support/service/sign-in.ts'

const email = 'admin@example.com'
/** What the next comparison waits for once it has compared. */
let whileCompared = async () => {}
let service: SignIn

beforeAll(async () => {
  const variables = { SERVICE_ADMIN__EMAIL: email, SERVICE_ADMIN__PASSWORD: 'the first password' }
  service = await openSignIn(variables, {
    hash: quickHashing.hash,
    async verify(password, hash) {
      const isRight = await quickHashing.verify(password, hash)
      const wait = whileCompared
      whileCompared = async () => {}
      await wait()
      return isRight
    },
  })
})

afterAll(() => service?.close())

it('refuses a sign-in whose password was reset after it had been compared', async () => {
  whileCompared = () => reset('the second password')

  const login = service.sessions.login({
    email,
    password: 'the first password',
    address: '192.0.2.1',
    userAgent: undefined,
  })

  await expect(login).rejects.toMatchObject({ kind: 'unauthenticated', message: 'Invalid credentials' })
})

it('refuses a change whose current password was reset after it had been compared', async () => {
  await reset('the second password')
  whileCompared = () => reset('the third password')

  const wish = { currentPassword: 'the second password', newPassword: 'of somebody else' }
  const change = service.passwords.change(await administrator(), wish, '192.0.2.2')

  await expect(change).rejects.toMatchObject({ kind: 'unauthenticated' })
  const login = service.sessions.login({
    email,
    password: 'the third password',
    address: '192.0.2.3',
    userAgent: undefined,
  })
  await expect(login).resolves.toBeDefined()
})

it('takes a token for an hour, keeps only its digest, and forgets it afterwards', async () => {
  const token = await requestToken()
  const [[kept] = []] = await query('select row_to_json(r)::text from service.password_reset r')

  await service.passwords.verifyReset(token, undefined)
  await query(`update service.password_reset set expires_at = expires_at - interval '1 hour'`)
  const late = service.passwords.verifyReset(token, undefined)

  await expect(late).rejects.toMatchObject({ kind: 'unauthenticated', message: 'Invalid token' })
  expect(kept).not.toContain(token)
  await service.passwords.prune()
  expect(await query('select 1 from service.password_reset')).toEqual([])
})

it('sends one account ten mails an hour, and answers all requests alike', async () => {
  const before = (await service.mails()).length

  const answers = await Promise.all(Array.from({ length: 12 }, () => request()))

  expect(before).toBeLessThan(10)
  expect(answers).toEqual(answers.map(() => undefined))
  expect(await service.mails()).toHaveLength(10)
})

async function reset(password: string): Promise<void> {
  await service.passwords.confirmReset({ token: await requestToken(), password }, '192.0.2.4')
}

async function requestToken(): Promise<string> {
  await request()
  return /token=([\w-]+)/.exec((await service.mails()).at(-1)?.text ?? '')?.[1] ?? ''
}

function request(): Promise<void> {
  return service.passwords.requestReset(email, { address: '192.0.2.4', origin: 'http://127.0.0.1' })
}

async function administrator() {
  const [[userId] = []] = await query('select id from service."user"')
  const credential = { kind: 'session', id: timeOrderedIds.next() } as const
  return { kind: 'user', userId: userId ?? '', isAdministrator: true, credential, ownerId: undefined } as const
}

function query(text: string) {
  return service.database.query({ text, params: [] })
}
