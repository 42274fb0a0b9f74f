/**
 * Contract 6, threats 17 and 18: the time of a refused sign-in does not tell whether the account exists. Measured at the
 * use case, on a real database, with the real hash at a lower cost: what differs besides the hash shows all the more.
 * That an unknown account costs a whole hash at any cost is a law of the Passwords port.
 */
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { openSignIn, type SignIn } from '../support/sign-in.ts'

const known = 'admin@example.com'
const LOGINS = 200
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

it(`a two-sample test over ${LOGINS} sign-ins cannot tell an unknown account from a known one`, async () => {
  for (let index = 0; index < 2 * FAILURES; index += 1) await login(index % 2 === 0 ? known : 'warm', 'warm')
  const scores: number[] = []
  while (scores.length < 4 && !scores.some((score) => Math.abs(score) < NOT_TOLD_APART)) {
    const { ofKnown, ofUnknown } = await sample(`round${scores.length}`)
    scores.push(rankScore(ofKnown, ofUnknown))
  }

  expect(Math.min(...scores.map(Math.abs)), `scores ${scores}`).toBeLessThan(NOT_TOLD_APART)
})

it('the two-sample test tells apart what differs', () => {
  const one = Array.from({ length: 100 }, (_, index) => index)
  const other = one.map((value) => value + 25)

  expect(Math.abs(rankScore(one, one))).toBeLessThan(0.01)
  expect(Math.abs(rankScore(one, other))).toBeGreaterThan(NOT_TOLD_APART)
})

/** Of a standard normal distribution: samples of one and the same population are further apart once in a hundred times. */
const NOT_TOLD_APART = 2.58

/** Times in pairs, one of each sort after the other in an order drawn by lot, from addresses that have not failed yet. */
async function sample(round: string) {
  const [ofKnown, ofUnknown]: [number[], number[]] = [[], []]
  const answers = new Set<string>()
  const timed = async (email: string, address: string) => {
    const { milliseconds, answer } = await login(email, address)
    answers.add(answer)
    return milliseconds
  }
  for (let index = 0; index < LOGINS / 2; index += 1) {
    const address = `${round}.${Math.floor(index / FAILURES)}`
    const unknown = `nobody.${round}@example.com`
    const isUnknownFirst = randomBytes(1).readUInt8() % 2 === 0
    if (isUnknownFirst) ofUnknown.push(await timed(unknown, address))
    ofKnown.push(await timed(known, address))
    if (!isUnknownFirst) ofUnknown.push(await timed(unknown, address))
  }

  expect([...answers]).toEqual(['ServiceError: Invalid credentials'])
  return { ofKnown, ofUnknown }
}

async function login(email: string, address: string) {
  const start = performance.now()
  const [end] = await Promise.allSettled([service.sessions.login({ email, password: 'not the password', address })])
  const milliseconds = performance.now() - start
  return { milliseconds, answer: end.status === 'rejected' ? String(end.reason) : 'signed in' }
}

/** The Mann-Whitney test: U as its distance from the expected value, in standard deviations. */
function rankScore(one: readonly number[], other: readonly number[]): number {
  const wins = one.flatMap((a) => other.map((b) => (a > b ? 1 : a === b ? 0.5 : 0)))
  const u = wins.reduce<number>((sum, win) => sum + win, 0)
  const [n, m] = [one.length, other.length]
  return (u - (n * m) / 2) / Math.sqrt((n * m * (n + m + 1)) / 12)
}
