/**
 * docs/contract.md#delegation: the last administrator of the instance stays. On an instance of its own: where another
 * test makes a second one meanwhile, the first would really lose what everything else is done with.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type NodeService, startService } from '../support/service/node-service.ts'

let service: NodeService

beforeAll(async () => {
  service = await startService('alone', { collections: {}, keys: {}, relations: [] })
})
afterAll(() => service.close())

it('keeps the last administrator of the instance', async () => {
  const id = await idOf(service.token)

  const answers = [
    await ask('PATCH', id, { isAdministrator: false }),
    await ask('PATCH', id, { status: 'suspended' }),
    await ask('DELETE', id),
  ]

  expect(answers.map(({ status }) => status)).toEqual([409, 409, 409])
  expect(await answers[0]?.json()).toEqual({
    message: 'The last administrator of the instance cannot be removed, suspended or demoted',
  })
})

describe('two administrators of the instance who are alone', () => {
  it.each([
    ['each other', { isAdministrator: false }, 1],
    ['each other', { status: 'suspended' }, 1],
    ['themselves', { isAdministrator: false }, 0],
    ['themselves', { status: 'suspended' }, 0],
  ] as const)('and act on %s at once by %j leave one', async (_, change, offset) => {
    const founder = await idOf(service.token)
    const pair = [await administrator(), await administrator()] as const
    await ask('PATCH', founder, { isAdministrator: false }, pair[0].key)

    const seen: number[][] = []
    for (let round = 0; round < 6; round += 1) {
      const answers = await Promise.all(
        pair.map(({ key }, index) => ask('PATCH', pair[(index + offset) % 2]?.id ?? '', change, key)),
      )
      seen.push(answers.map(({ status }) => status).toSorted())
      const standing = await Promise.all(pair.map(async ({ id, key }) => (await ask('GET', id, undefined, key)).status))
      const lasting = pair[standing.indexOf(200)]
      for (const { id } of pair) await ask('PATCH', id, { status: 'active', isAdministrator: true }, lasting?.key)
    }
    await ask('PATCH', founder, { isAdministrator: true }, pair[0].key)
    for (const { id } of pair) await ask('DELETE', id)

    expect(seen.map(([first]) => first)).toEqual(Array.from(seen, () => 200))
    // Too late by then, or the last one.
    expect(seen.filter(([, second = 0]) => ![401, 403, 409].includes(second))).toEqual([])
  })
})

/** Somebody by a key, which counts again after a suspension. */
async function administrator(): Promise<{ readonly id: string; readonly key: string }> {
  const token = await service.member()
  const id = await idOf(token)
  await ask('PATCH', id, { isAdministrator: true })
  const made = await fetch(`${service.url}/api/system/api-keys`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    body: JSON.stringify({ name: 'administrator' }),
  })
  return { id, key: ((await made.json()) as { data: { key: string } }).data.key }
}

async function idOf(token: string): Promise<string> {
  const answer = await ask('GET', 'me', undefined, token)
  return ((await answer.json()) as { data: { id: string } }).data.id
}

function ask(method: string, id: string, body?: object, token = service.token): Promise<Response> {
  return fetch(`${service.url}/api/system/users/${id}`, {
    method,
    headers: { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}
