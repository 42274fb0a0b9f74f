/** docs/contract.md#openapi: the OpenAPI document of the system. */
import { expect, it } from 'vitest'
import { people } from '../support/service/people.ts'
import { world } from '../support/service/world.ts'

it('answers the bare document to an administrator of the instance', async () => {
  const response = await world.administrator.get('/api/system/openapi')
  const document = (await response.json()) as { openapi: string; paths: Record<string, object> }

  expect([response.status, document.openapi]).toEqual([200, '3.1.0'])
  expect(Object.keys(document.paths)).toEqual(
    expect.arrayContaining(['/api/auth/login', '/api/system/workspaces', '/api/{workspace}/roles/{id}']),
  )
  expect(document.paths['/api/system/workspaces']).toMatchObject({
    post: {
      requestBody: {
        content: {
          'application/json': { schema: { type: 'object', required: ['apiName'], additionalProperties: false } },
        },
      },
      responses: { '201': {}, '400': {}, '401': {}, '402': {}, '403': {}, '409': {}, '422': {} },
    },
  })
})

it('answers 304 to whoever holds it', async () => {
  const tag = (await world.administrator.get('/api/system/openapi')).headers.get('ETag') ?? ''

  const again = await world.administrator.send('GET', '/api/system/openapi', { headers: { 'If-None-Match': tag } })

  expect(tag).toMatch(/^W\/"[0-9a-f]+"$/)
  expect([again.status, await again.text()]).toEqual([304, ''])
})

it('needs systemOpenApiSchema:read, which administrators of the instance hold', async () => {
  const shop = await world.workspace('openapi', {})
  const member = await people.member(shop, { entitlements: ['openApiSchema:read'] })

  const answers = [await member.system.get('/api/system/openapi'), await world.anonymous.get('/api/system/openapi')]

  expect(answers.map(({ status }) => status)).toEqual([403, 403])
  expect(await answers[0]?.json()).toEqual({ message: 'Requires the entitlement systemOpenApiSchema:read' })
})
