/** docs/contract.md#accounts and #sessions: one's own name and sessions; and whether mail works, #system. */
import { describe, expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace('own_account', { articles: { title: 'string' } })
const me = '/api/system/users/me'
const sessions = `${me}/sessions`

type Session = { readonly id: string; readonly current: boolean }

async function signIn({ email, password }: { readonly email: string; readonly password: string }, userAgent: string) {
  const response = await world.anonymous.send('POST', '/api/auth/login', {
    body: { credentials: { email, password }, mode: 'json' },
    headers: { 'User-Agent': userAgent },
  })
  const { accessToken, refreshToken } = (await response.json()) as { accessToken: string; refreshToken: string }
  return { client: world.bearer(accessToken), refreshToken }
}

async function listed(client: { get(path: string): Promise<Response> }): Promise<readonly Session[]> {
  return ((await (await client.get(sessions)).json()) as { data: Session[] }).data
}

describe('one’s own name', () => {
  it('is changed by its owner, and by nobody for a service account', async () => {
    const ada = await people.memberWith(shop, [])
    const changed = await ada.system.patch(me, { fullName: 'Ada Lovelace' })
    const taken = await ada.system.patch(me, { fullName: null })
    const made = await ada.system.post('/api/system/service-accounts', { name: world.name('robot') })
    const { id } = ((await made.json()) as { data: { id: string } }).data
    const key = await ada.system.post('/api/system/api-keys', { name: 'robot', userId: id })
    const robot = world.bearer(((await key.json()) as { data: { key: string } }).data.key)
    const own = await robot.patch(me, { fullName: 'Nobody' })

    expect([changed.status, await changed.json()]).toEqual([
      200,
      { data: expect.objectContaining({ id: ada.userId, fullName: 'Ada Lovelace' }) },
    ])
    expect(await taken.json()).toMatchObject({ data: { fullName: null } })
    expect([own.status, await own.json()]).toEqual([403, { message: 'A service account cannot change itself' }])
  })

  it('is all of it that one may change', async () => {
    const ada = await people.memberWith(shop, [])
    const bodies = [{ isAdministrator: true }, { fullName: 'Ada', status: 'active' }, { fullName: 1 }, {}]
    const answers = await Promise.all(bodies.map((body) => ada.system.patch(me, body)))

    expect(answers.map(({ status }) => status)).toEqual([422, 422, 422, 422])
  })

  it('is in the audit log', async () => {
    const ada = await people.memberWith(shop, [])
    await ada.system.patch(me, { fullName: 'Ada' })
    const path = `/api/system/audit-log?filter[targetId][_eq]=${ada.userId}&filter[action][_eq]=user.update.v1`

    expect(await (await world.administrator.get(path)).json()).toMatchObject({
      data: [{ actorId: ada.userId, payload: { fullName: 'Ada' } }],
    })
  })
})

describe('one’s own sessions', () => {
  it('are listed, the last used first, with what they are recognised by', async () => {
    const ada = await people.memberWith(shop, [])
    const one = await signIn(ada, 'Browser/1')
    const other = await signIn(ada, 'Browser/2')
    await world.anonymous.send('POST', '/api/auth/refresh', {
      body: { refreshToken: one.refreshToken },
      headers: { 'User-Agent': `Browser/3 ${'x'.repeat(1_000)}` },
    })
    const [first, second, ...others] = await listed(other.client)

    const time = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const about = { id: expect.any(String), createdAt: time, lastUsedAt: time, name: null, ip: expect.any(String) }
    expect(first).toEqual({ ...about, userAgent: expect.stringMatching(/^Browser\/3 x{390}$/), current: false })
    expect(second).toEqual({ ...about, userAgent: 'Browser/2', current: true })
    expect(others.map(({ current }) => current)).not.toContain(true)
  })

  it('end at once, one by one', async () => {
    const ada = await people.memberWith(shop, [])
    const [one, other] = [await signIn(ada, 'one'), await signIn(ada, 'other')]
    const id = (await listed(one.client)).find(({ current }) => current)?.id
    const ended = await other.client.delete(`${sessions}/${id}`)
    const again = await other.client.delete(`${sessions}/${id}`)
    const refreshed = await world.anonymous.post('/api/auth/refresh', { refreshToken: one.refreshToken })

    expect([ended.status, again.status, refreshed.status]).toEqual([204, 404, 401])
    expect([(await one.client.get(me)).status, (await other.client.get(me)).status]).toEqual([401, 200])
    expect((await listed(other.client)).map((session) => session.id)).not.toContain(id)
  })

  it('end all but the one that asks, once', async () => {
    const ada = await people.memberWith(shop, [])
    const [one, other] = [await signIn(ada, 'one'), await signIn(ada, 'other')]
    const ended = [await other.client.delete(sessions), await other.client.delete(sessions)]
    const path = `/api/system/audit-log?filter[actorId][_eq]=${ada.userId}&filter[action][_eq]=session.delete.v1`

    expect(ended.map(({ status }) => status)).toEqual([204, 204])
    expect((await one.client.get(me)).status).toBe(401)
    expect(await listed(other.client)).toEqual([expect.objectContaining({ current: true })])
    expect(((await (await world.administrator.get(path)).json()) as { data: object[] }).data).toHaveLength(1)
  })

  it('are nobody else’s, and none of a key', async () => {
    const [ada, eve] = [await people.memberWith(shop, []), await people.memberWith(shop, [])]
    const id = (await listed((await signIn(ada, 'one')).client))[0]?.id
    const made = await ada.system.post('/api/system/api-keys', { name: 'key' })
    const key = world.bearer(((await made.json()) as { data: { key: string } }).data.key)

    expect((await eve.system.delete(`${sessions}/${id}`)).status).toBe(404)
    expect((await eve.system.delete(`${sessions}/nothing`)).status).toBe(404)
    expect((await listed(key)).map(({ current }) => current)).not.toContain(true)
    expect((await world.anonymous.get(sessions)).status).toBe(403)
  })
})

describe('a mail to oneself', () => {
  it('shows an administrator whether mail works', async () => {
    const sent = await world.administrator.post('/api/system/mail/test', {})
    const ada = await people.memberWith(shop, [])

    expect(sent.status).toBe(204)
    expect((await world.administrator.post('/api/system/mail/test', { to: 'eve@example.com' })).status).toBe(422)
    expect((await ada.system.post('/api/system/mail/test', {})).status).toBe(403)
  })
})

describe('the actions of the audit log', () => {
  it('are listed with their labels, for whoever may read it', async () => {
    const reader = await people.member(shop, { entitlements: ['auditLog:read'] })
    const ofInstance = await world.administrator.get('/api/system/audit-log/actions')
    const ofShop = await reader.get('/audit-log/actions')

    const listedActions = ((await ofInstance.json()) as { data: object[] }).data
    expect(listedActions).toContainEqual({ action: 'session.delete.v1', label: 'Session ended by its user' })
    expect(await ofShop.json()).toEqual({ data: listedActions })
    expect((await reader.system.get('/api/system/audit-log/actions')).status).toBe(403)
  })
})
