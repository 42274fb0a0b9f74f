import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { runConnector } from 'governed-data-service/connector-kit/testing'
import { afterAll, beforeAll, expect, it } from 'vitest'

const tasks = [
  { id: 1, title: 'Write the connector', done: true },
  { id: 2, title: 'Test it', done: false },
]

let status = 200
const server = createServer((_, response) => {
  response.writeHead(status, { 'Content-Type': 'application/json' })
  response.end(JSON.stringify(tasks))
})
let connector: Awaited<ReturnType<typeof runConnector>>
let host: string

beforeAll(async () => {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  host = `127.0.0.1:${(server.address() as AddressInfo).port}`
  connector = await runConnector({ folder: import.meta.dirname, config: { url: `http://${host}` } })
})

afterAll(async () => {
  await connector.close()
  server.close()
})

it('asks for the host of its configuration', () => {
  expect(connector.required).toEqual([{ permission: `net:${host}`, reason: 'the API that lists the tasks' }])
})

it('declares its collections', async () => {
  const { collections } = await connector.introspect()

  expect(collections.map(({ name }) => name)).toEqual(['tasks'])
})

it('answers lists and keys', async () => {
  const read = { collection: 'tasks', fields: ['title'] }
  const filter = { field: 'done', operator: 'eq', value: false } as const

  expect(await connector.query({ ...read, operation: 'readMany', filter, limit: 10 })).toEqual({
    records: [{ title: 'Test it' }],
    count: undefined,
  })
  expect((await connector.query({ ...read, operation: 'readOne', key: { id: 9 } })).records).toEqual([])
})

it('is walked page by page', async () => {
  const sort = [
    { field: 'title', direction: 'desc' },
    { field: 'id', direction: 'asc' },
  ] as const

  expect(await connector.walk({ collection: 'tasks', fields: ['id'], sort, limit: 1 })).toEqual([
    { id: 1, title: 'Write the connector' },
    { id: 2, title: 'Test it' },
  ])
})

it('tells that the API throttles', async () => {
  status = 429
  const answer = connector.query({ collection: 'tasks', fields: ['id'], operation: 'readMany', limit: 1 })

  await expect(answer).rejects.toMatchObject({ message: 'Failed to connect to the database', code: '5002' })
  status = 200
})

it('passes its connection test', async () => {
  await expect(connector.testConnection()).resolves.toBeUndefined()
})
