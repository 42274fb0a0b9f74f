/** The one-time link by which a local run signs its administrator in (docs/contract.md#the-console). */
import { expect, inject, it } from 'vitest'
import { linkFor, onSystem } from '../support/service/sign-in-link.ts'
import { world } from '../support/service/world.ts'

const served = inject('served')
const { email } = world.administrator

const tokenOf = (link: string | undefined) =>
  new URLSearchParams(new URL(link ?? '').hash.slice(1)).get('sign-in') ?? ''
const use = (token: unknown) => world.anonymous.post('/api/auth/link', { token })

it('signs its administrator in, once', async () => {
  const token = tokenOf(await linkFor(served, email))

  const answers = [await use(token), await use(token)]

  expect(answers.map(({ status }) => status)).toEqual([200, 401])
  const cookie =
    answers[0]?.headers
      .getSetCookie()
      .map((line) => line.split(';')[0])
      .join('; ') ?? ''
  const me = await fetch(`${world.url}/api/system/users/me`, { headers: { Cookie: cookie } })
  expect(await me.json()).toMatchObject({ data: { email, isAdministrator: true } })
  expect(answers[0]?.headers.getSetCookie().every((line) => line.includes('HttpOnly'))).toBe(true)
})

it('counts once where several use it at once', async () => {
  const token = tokenOf(await linkFor(served, email))

  const answers = await Promise.all([use(token), use(token), use(token)])

  expect(answers.map(({ status }) => status).sort()).toEqual([200, 401, 401])
})

it('counts no longer than it is said to', async () => {
  const token = tokenOf(await linkFor(served, email))
  await onSystem(served, (database) =>
    database.query({
      text: "update service.sign_in_link set expires_at = now() - interval '1 second'",
      params: [],
    }),
  )

  expect((await use(token)).status).toBe(401)
})

it('counts until the next one is made', async () => {
  const token = tokenOf(await linkFor(served, email))
  await linkFor(served, email)

  expect((await use(token)).status).toBe(401)
})

it('is kept as a digest', async () => {
  const token = tokenOf(await linkFor(served, email))

  const rows = await onSystem(served, (database) =>
    database.query({ text: 'select token_hash from service.sign_in_link', params: [] }),
  )

  expect(rows).toHaveLength(1)
  expect(JSON.stringify(rows)).not.toContain(token)
})

it('is made for administrators only', async () => {
  expect(await linkFor(served, 'nobody@example.com')).toBeUndefined()
})

it.each([[''], ['x'], [null], ["' or true --"]])('refuses %j', async (token) => {
  const { status } = await use(token)

  expect(status).toBe(typeof token === 'string' ? 401 : 422)
})
