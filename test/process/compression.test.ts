/** Answers of the Node server are compressed for whoever accepts that, where it is worth the work. */
import { once } from 'node:events'
import { request } from 'node:http'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Drawing } from '../support/data/model-sketch.ts'
import { type NodeService, startService } from '../support/service/node-service.ts'

const library: Drawing = {
  collections: { notes: { id: 'int32 = counted', text: 'string' } },
  keys: {},
  relations: [],
}

let service: NodeService

beforeAll(async () => {
  service = await startService('library', library)
  for (let page = 0; page < 2; page += 1) {
    await service.send(
      'POST',
      'notes',
      Array.from({ length: 600 }, (_, index) => ({ text: `ünïcödé ${index}` })),
    )
  }
})

afterAll(() => service?.close())

async function list(search: string, encoding?: string) {
  const asked = request(`${service.url}${service.items}notes?${search}`, {
    headers: {
      Authorization: `Bearer ${service.token}`,
      ...(encoding !== undefined && { 'Accept-Encoding': encoding }),
    },
  })
  asked.end()
  const [response] = await once(asked, 'response')
  const chunks: Buffer[] = []
  for await (const chunk of response) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const coding: string | undefined = response.headers['content-encoding']
  const text = (coding === 'gzip' ? gunzipSync(body) : body).toString()
  return { coding, vary: response.headers.vary, count: (JSON.parse(text) as { data: unknown[] }).data.length }
}

it.each([
  ['a text', 'limit=500', 500],
  ['one that is sent in pieces', 'limit=-1', 1_200],
])('compresses %s', async (_, search, count) => {
  expect(await list(search, 'br, gzip')).toEqual({ coding: 'gzip', vary: 'Accept-Encoding', count })
})

it.each([
  ['a small answer', 'limit=1', 'gzip', 1],
  ['what a caller wants as it is', 'limit=500', 'gzip;q=0, identity', 500],
  ['what a caller says nothing about', 'limit=500', undefined, 500],
])('does not compress %s', async (_, search, encoding, count) => {
  expect(await list(search, encoding)).toEqual({ coding: undefined, vary: undefined, count })
})

it.each(['/api/library/openapi', '/api/library/schema', '/api/library/access', '/api/system/docs/reference.js'])(
  'answers %s by what is kept of it, as it is and compressed',
  async (path) => {
    const headers = { Authorization: `Bearer ${service.token}` }
    const answers = await Promise.all(
      ['identity', 'gzip', 'gzip'].map((coding) =>
        fetch(`${service.url}${path}`, { headers: { ...headers, 'Accept-Encoding': coding } }),
      ),
    )
    const texts = await Promise.all(answers.map((answer) => answer.text()))

    expect(answers.map((answer) => answer.headers.get('content-encoding'))).toEqual([null, 'gzip', 'gzip'])
    expect(texts[0]?.length).toBeGreaterThan(1_400)
    expect(new Set(texts).size).toBe(1)
  },
)
