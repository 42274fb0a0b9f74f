/** docs/contract.md#files: what a store of files that fails, or lacks bytes, does to whoever asks for them. */

import sharp from 'sharp'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Client } from '../support/service/client.ts'
import { openTestEnvironment, type TestEnvironment } from '../support/service/instance.ts'

let stage: TestEnvironment
let administrator: Client
let log: () => string

beforeAll(async () => {
  stage = await openTestEnvironment()
  const instance = await stage.open()
  log = instance.log
  administrator = await instance.administrator()
  expect((await administrator.post('/api/system/workspaces', { apiName: 'shop' })).status).toBe(201)
})

afterAll(() => stage?.close())

/** Another number of a piece: the size of the part is right, and reading it ends at once. */
const breakOff = () => stage.run('update service.file_part set piece = piece + 100 returning piece')
const lose = () => stage.run('delete from service.file_part returning piece')

describe.each([
  ['breaks off', breakOff, 'The store of files cannot be reached'],
  ['lacks the bytes', lose, 'The bytes of this file are missing'],
])('a store that %s', (_, fail, message) => {
  it.each([
    ['a small file', 1_000, undefined],
    ['a large file', 100_000, undefined],
    ['a range', 1_000, 'bytes=1-3'],
    ['a large range', 100_000, 'bytes=1-90000'],
    ['several ranges', 1_000, 'bytes=1-3,5-9'],
  ])('is 503 for %s', async (_, size, range) => {
    const { id } = await dataOf(upload('letter.txt', 'a'.repeat(size)))
    await fail()

    const answer = await administrator.send('GET', `/api/shop/assets/${id}`, {
      ...(range !== undefined && { headers: { Range: range } }),
    })

    expect([answer.status, await answer.json()]).toEqual([503, { message }])
    expect(log()).toContain('"fault"')
  })

  it('is 503 for a link, and for an image in small', async () => {
    const create = { width: 30, height: 60, channels: 3, background: 'teal' } as const
    const { id } = await dataOf(upload('photo.png', await sharp({ create }).png().toBuffer()))
    const { url } = await dataOf(administrator.post(`/api/shop/assets/${id}/link`, {}))
    await fail()

    const answers = [await fetch(url ?? ''), await administrator.get(`/api/shop/assets/${id}?preset=64`)]

    for (const answer of answers) expect([answer.status, await answer.json()]).toEqual([503, { message }])
  })

  it('is 503 for the end of an upload in parts', async () => {
    const { id } = await dataOf(administrator.post('/api/shop/assets/uploads', { fileName: 'a.txt', fileSize: 4 }))
    const at = `/api/shop/assets/uploads/${id}`
    expect((await administrator.send('PUT', `${at}/1`, { raw: 'text' })).status).toBe(204)
    await fail()

    const answer = await administrator.post(`${at}/complete`, {})

    // Whose parts are gone is told which ones to send again.
    const gone = [409, expect.objectContaining({ meta: { missing: [1] } })]
    expect([answer.status, await answer.json()]).toEqual(fail === lose ? gone : [503, { message }])
  })
})

function upload(name: string, raw: BodyInit): Promise<Response> {
  return administrator.send('POST', `/api/shop/assets?fileName=${name}`, { raw })
}

async function dataOf(asked: Promise<Response>): Promise<{ id?: string; url?: string }> {
  const answer = await asked
  expect(answer.ok, `${answer.status}`).toBe(true)
  return ((await answer.json()) as { data: { id?: string; url?: string } }).data
}
