/** docs/contract.md#first-start: the set-up token cannot be guessed faster than a password. */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSignIn, type SignIn } from '../support/service/sign-in.ts'

const user = { email: 'admin@example.com', password: 'long enough to be one' }
let service: SignIn

beforeAll(async () => {
  service = await openSignIn({ SERVICE_SETUP_TOKEN: 'the right one' })
})

afterAll(() => service?.close())

it('lets nobody guess on from an address after five wrong set-up tokens, not even right', async () => {
  const claim = (setupToken: string, address: string) => service.sessions.bootstrap(user, { setupToken, address })

  const wrong = await Promise.allSettled(Array.from({ length: 8 }, () => claim('a wrong one', '192.0.2.1')))
  const late = claim('the right one', '192.0.2.1')

  await expect(late).rejects.toMatchObject({ kind: 'throttled' })
  const kinds = wrong.map((end) => (end.status === 'rejected' ? end.reason.kind : end.status))
  expect(kinds.sort()).toEqual([...Array(5).fill('forbidden'), ...Array(3).fill('throttled')])
  await expect(claim('the right one', '192.0.2.2')).resolves.toMatchObject({ email: user.email })
})
