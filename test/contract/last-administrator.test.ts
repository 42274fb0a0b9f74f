/**
 * Contract 5: the last administrator of the instance stays. On an instance of its own: where another test makes a second
 * one meanwhile, the first would really lose what everything else is done with.
 */
import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NodeService, startService } from '../support/node-service.ts'

let service: NodeService

beforeAll(async () => {
  service = await startService('alone', { collections: {}, keys: {}, relations: [] })
})
afterAll(() => service.close())

it('keeps the last administrator of the instance', async () => {
  const { data } = (await (await ask('GET', 'me')).json()) as { data: { id: string } }

  const answers = [
    await ask('PATCH', data.id, { isAdministrator: false }),
    await ask('PATCH', data.id, { status: 'suspended' }),
    await ask('DELETE', data.id),
  ]

  expect(answers.map(({ status }) => status)).toEqual([409, 409, 409])
  expect(await answers[0]?.json()).toEqual({
    message: 'The last administrator of the instance cannot be removed, suspended or demoted',
  })
})

function ask(method: string, id: string, body?: object): Promise<Response> {
  return fetch(`${service.url}/api/system/users/${id}`, {
    method,
    headers: { Authorization: `Bearer ${service.token}`, 'Content-Type': 'application/json' },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
}
