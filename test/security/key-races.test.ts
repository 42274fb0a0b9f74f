/** docs/contract.md#api-keys: a credential that ends just before the statements of a change run changes no key any more. */
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import type { Statement } from '../../src/core/sql/statement.ts'
import { timeOrderedIds } from '../../src/platform/ids.ts'
import { insertApiKey, updateApiKey } from '../../src/store/api-keys.ts'
import { openSignIn, type SignIn } from '../support/service/sign-in.ts'

const email = 'admin@example.com'
const anyone = { kind: 'anyone' } as const
const record = (): Statement => ({ text: 'select 1', params: [] })
let service: SignIn
let by: { readonly kind: 'session'; readonly id: string; readonly userId: string }

const query = (text: string) => service.database.query({ text, params: [] })
const names = async () => (await query('select name from service.api_key order by name')).flat()
const newKey = (name: string) => {
  const { userId } = by
  const rest = { description: null, expiresAt: undefined, scope: undefined, madeBy: undefined }
  return { id: timeOrderedIds.next(), userId, name, ...rest, record, by }
}

beforeAll(async () => {
  service = await openSignIn({ SERVICE_ADMIN__EMAIL: email, SERVICE_ADMIN__PASSWORD: 'a password of some length' })
})
afterAll(() => service?.close())
beforeEach(async () => {
  await query('delete from service.api_key')
  const [client, password] = [{ address: '192.0.2.1', userAgent: undefined }, 'a password of some length']
  await service.sessions.login({ email, password, ...client })
  const [[id = '', userId = ''] = []] = await query('select id, user_id from service.session order by id desc limit 1')
  by = { kind: 'session', id: id ?? '', userId: userId ?? '' }
})

it.each([
  ['whose session ended', () => query('update service.session set revoked_at = now()')],
  ['whose account is suspended', () => query(`update service."user" set status = 'suspended'`)],
])('makes and changes no key for one %s', async (_, end) => {
  const kept = newKey('kept')
  expect(await insertApiKey(service.database, anyone, kept)).toBe(true)

  await end()
  const made = await insertApiKey(service.database, anyone, newKey('late'))
  const changed = await updateApiKey(service.database, { id: kept.id, keyFilter: anyone, record, by }, { name: 'late' })

  expect([made, changed, await names()]).toEqual([false, false, ['kept']])
  await query(`update service."user" set status = 'active'`)
})
