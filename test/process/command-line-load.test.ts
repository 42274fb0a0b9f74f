/** What the command line refuses to load, before it sends anything (packages/cli). */
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type Loading, loadFolder } from '../../packages/cli/src/load-folder.ts'

const manifest = {
  strings: ['books', 'isbn'],
  serviceSchema: {
    collections: [
      {
        apiName: 0,
        primitiveFields: [{ apiName: 1 }],
        relationFields: [],
        indexes: [{ kind: 'primary', fields: [0] }],
      },
    ],
  },
} as unknown as Loading['manifest']
const send = () => {
  throw new Error('something was sent')
}

it.each([
  ['no list', {}, 'books.json must hold a list of items'],
  ['what is no item', ['x'], 'books.json: [0] is no item'],
  ['an item without its key', [{ isbn: '1' }, {}], 'books.json: [1] lacks isbn'],
  ['an item whose key is null', [{ isbn: null }], 'books.json: [0] lacks isbn'],
])('refuses %s', async (_, content, message) => {
  const folder = await mkdtemp(join(tmpdir(), 'governed-'))
  await writeFile(join(folder, 'books.json'), JSON.stringify(content))
  const loading = { folder, manifest, progress: () => {}, must: send, db: {} as Loading['db'] }

  await expect(loadFolder(loading)).rejects.toThrow(message)
  await rm(folder, { recursive: true })
})
