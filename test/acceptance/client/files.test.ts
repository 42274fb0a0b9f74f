/** Files through the client (packages/client, entry `./files`), and the types of fields that lead to them. */
import { randomBytes } from 'node:crypto'
import { expect, it } from 'vitest'
import { files } from '../../../packages/client/src/files.ts'
import {
  type ManifestText,
  type ModelText,
  writeModelSchema,
  writeSchema,
} from '../../../packages/client/src/generate.ts'
import { createClient } from '../../../packages/client/src/index.ts'
import { schema } from '../../../packages/client/src/system.ts'
import { world } from '../../support/service/world.ts'

const shop = await world.workspace('client_files', {})
const headers = { Authorization: `Bearer ${world.administrator.token}` }
const db = createClient<Record<never, never>>(world.url, { workspace: shop.name, headers })
const MIB = 1024 ** 2

const bytesOf = async (id: string) => Buffer.from(await (await shop.get(`/assets/${id}`)).arrayBuffer())

it('uploads a small file in one piece, by its own name', async () => {
  const told: unknown[] = []

  const file = await files(db)
    .upload(new File(['abc'], 'letters.txt', { type: 'multipart/form-data' }), { onProgress: (at) => told.push(at) })
    .orThrow()
  const { url } = await files(db).link(file.id, { expiresIn: '1m' }).orThrow()

  expect(file).toMatchObject({ fileName: 'letters.txt', fileSize: 3, mediaType: 'text/plain' })
  expect(told).toEqual([{ sent: 3, total: 3 }])
  expect(await (await fetch(url)).text()).toBe('abc')
  expect(() => files(db).upload(new Blob(['abc']))).toThrow(new TypeError('fileName is missing'))
})

it('uploads a large file in parts, a lost one again, and goes on where it was ended', async () => {
  const bytes = randomBytes(17 * MIB)
  const ended = new AbortController()
  const sent: number[] = []
  const puts: string[] = []
  let upload = ''
  let isLost = false
  const unsteady: typeof fetch = async (input, init) => {
    const response = await fetch(input, init)
    if (init?.method !== 'PUT') return response
    puts.push(String(input).split('/').at(-1) ?? '')
    if (isLost) return response
    // It has arrived; its sender does not know.
    isLost = true
    throw new TypeError('fetch failed')
  }

  const first = await files(db).upload(new Blob([bytes]), {
    fileName: 'large.bin',
    fetch: unsteady,
    signal: ended.signal,
    onBegin: (id) => (upload = id),
    onProgress: (at) => {
      sent.push(at.sent)
      if (at.sent === 16 * MIB) ended.abort()
    },
  })
  const { parts } = await files(db).uploads.get(upload).orThrow()
  const other = await files(db)
    .upload(new Blob(['abc']), { fileName: 'large.bin', resume: upload })
    .orThrow()
    .catch(String)
  const file = await files(db)
    .upload(new Blob([bytes]), { fileName: 'large.bin', resume: upload, onProgress: (at) => sent.push(at.sent) })
    .orThrow()
  const again = await files(db)
    .upload(new Blob([bytes]), { fileName: 'large.bin', resume: upload })
    .orThrow()

  expect(first).toMatchObject({ ok: false, status: 0, error: { code: 'aborted' } })
  expect(puts).toEqual(['1', '1', '2'])
  expect(parts.map(({ n }) => n)).toEqual([1, 2])
  expect(other).toContain(`The upload is of ${bytes.length} bytes, the file has 3`)
  expect(sent).toEqual([8 * MIB, 16 * MIB, 17 * MIB])
  expect((await bytesOf(file.id)).equals(bytes)).toBe(true)
  expect(again).toEqual(file)
})

it.each([0, -1, 1e-9, null])('sends nothing where a service answers parts of %j bytes', async (partSize) => {
  const methods: (string | undefined)[] = []
  const strange: typeof fetch = async (input, init) => {
    methods.push(init?.method)
    if (methods.length > 3) throw new TypeError('it goes on')
    const response = await fetch(input, init)
    const { data } = (await response.json()) as { data: object }
    return Response.json({ data: { ...data, partSize } }, { status: response.status })
  }

  const file = new Blob([new Uint8Array(9 * MIB)])
  const uploading = files(db).upload(file, { fileName: 'large.bin', fetch: strange }).orThrow()

  await expect(uploading).rejects.toThrow(new TypeError(`The upload is in parts of ${partSize} bytes`))
  expect(methods).toEqual(['POST'])
})

it('has the types of fields that lead to files, of a manifest and of a model file', async () => {
  const model = {
    version: 1,
    collections: {
      clips: {
        fields: {
          id: 'int64 auto',
          cover: { to: 'ServiceFile?', opposite: 'coverOf' },
          stills: { many: 'ServiceFile' },
          title: 'string',
        },
      },
    },
  }
  await schema(db)
    .apply(model, await schema(db).plan(model).orThrow())
    .orThrow()
  const manifest = await db.$request<ManifestText>('GET', 'schema').orThrow()
  const file = (await schema(db).model({ ids: false }).orThrow()) as ModelText

  const text = writeSchema(manifest)

  expect(text).toContain("      cover: { to: 'ServiceFile'; by: 'coverId'; null: true }\n")
  expect(text).toContain("      stills: 'ServiceFile'\n")
  expect(writeModelSchema(file)).toBe(text)
})
