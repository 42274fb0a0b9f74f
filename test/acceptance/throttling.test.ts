/**
 * docs/contract.md#passwords: five failures for one account and address in a minute, then 429 until time has passed.
 */
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

const shop = await world.workspace('throttling', {})

it('lets nobody try after five failures, whatever the spelling of the address, not even with the right password', async () => {
  const member = await people.memberWith(shop, [])
  const spellings = [member.email, member.email.toUpperCase()]
  const failures = await Promise.all(Array.from({ length: 5 }, (_, index) => login(spellings[index % 2], 'wrong')))

  const late = await Promise.all([login(member.email, 'wrong'), login(member.email, member.password)])
  const session = await member.system.get('/api/system/users/me')
  const other = await login(people.email(), 'wrong')

  expect(failures.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401])
  expect(late.map(({ status }) => status)).toEqual([429, 429])
  expect([session.status, other.status]).toEqual([200, 401])
})

it('answers the same for accounts that do not exist, and says when to come again', async () => {
  const { email } = await people.memberWith(shop, [])

  const [ofKnown, ofUnknown] = [await failing(email), await failing(people.email())]

  expect(ofUnknown.statuses).toEqual([401, 401, 401, 401, 401, 429, 429])
  expect(ofKnown.statuses).toEqual(ofUnknown.statuses)
  expect(ofUnknown.retryAfter).toSatisfy((seconds: number) => seconds >= 1 && seconds <= 60)
  expect(ofKnown.last).toEqual({
    message: 'Too many attempts, try again later',
    meta: { retryAfter: expect.any(Number) },
  })
  expect(Object.keys(ofUnknown.last)).toEqual(Object.keys(ofKnown.last))
})

it('counts failures and nothing else', async () => {
  const member = await people.memberWith(shop, [])

  const answers = await Promise.all(Array.from({ length: 6 }, () => login(member.email, member.password)))

  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 200])
})

it('never holds a session up for what others have tried', async () => {
  const member = await people.memberWith(shop, [])
  await failing(member.email)

  const changed = await member.system.post('/api/auth/password-change', {
    currentPassword: member.password,
    newPassword: 'another long password',
  })

  expect(changed.status).toBe(204)
})

it.each(['CF-Connecting-IP', 'X-Forwarded-For', 'Forwarded', 'X-Real-IP', 'True-Client-IP', 'CF-Connecting-IPv6'])(
  'does not take the address that a caller writes into %s for theirs',
  async (name) => {
    const email = people.email()
    const claim = (index: number) => (name === 'Forwarded' ? `for=198.51.100.${index}` : `198.51.100.${index}`)

    const answers = []
    for (let index = 1; index <= 6; index += 1) {
      const body = { credentials: { email, password: 'wrong' }, mode: 'json' }
      answers.push(await world.anonymous.send('POST', '/api/auth/login', { body, headers: { [name]: claim(index) } }))
    }
    const log = await world.administrator.get(
      '/api/system/audit-log?filter[action][_eq]=auth.login.v1&sort[0][time][direction]=desc&limit=1000',
    )

    const { data } = (await log.json()) as { data: { ip: string; payload: { email?: string } }[] }
    const ips = data.filter(({ payload }) => payload.email === email).map(({ ip }) => ip)
    expect(answers.map(({ status }) => status)).toEqual([401, 401, 401, 401, 401, 429])
    expect(ips).toEqual(Array.from({ length: 5 }, () => expect.stringMatching(/^(127\.0\.0\.1|::1)$/)))
  },
)

function login(email: string | undefined, password: string): Promise<Response> {
  return world.anonymous.post('/api/auth/login', { credentials: { email, password }, mode: 'json' })
}

/** Seven failures, tried all at once: the answers in the order of their status, and what the last of them say. */
async function failing(email: string) {
  const answers = await Promise.all(Array.from({ length: 7 }, () => login(email, 'wrong')))
  const last = answers.find(({ status }) => status === 429)
  return {
    statuses: answers.map(({ status }) => status).sort((one, other) => one - other),
    retryAfter: Number(last?.headers.get('Retry-After')),
    last: (await last?.json()) as object,
  }
}
