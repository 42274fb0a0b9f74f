/** docs/contract.md#openapi: a document that is too long to be kept is sent as it is built, whoever takes it slowly. */
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { expect, it } from 'vitest'
import { MAX_KEPT } from '../../src/services/documents/kept-texts.ts'
import { documentOf, largeModel } from '../support/data/large-document.ts'

setFlagsFromString('--expose-gc')
const collect = runInNewContext('gc') as () => void

const OPEN = 3

it('holds next to nothing of a long document for each of those who take it', async () => {
  const render = documentOf(largeModel(1_000))
  const first = await textOf(await render())
  collect()
  const before = process.memoryUsage().heapUsed
  const readers: ReadableStreamDefaultReader<Uint8Array>[] = []
  for (let count = 0; count < OPEN; count += 1) {
    const body = await render()
    if (!(body instanceof ReadableStream)) throw new Error('The document is short')
    const reader = body.getReader()
    await reader.read()
    readers.push(reader)
  }
  collect()
  const held = process.memoryUsage().heapUsed - before
  await Promise.all(readers.map((reader) => reader.cancel()))
  const again = await textOf(await render())

  expect(first.length).toBeGreaterThan(MAX_KEPT)
  expect(held).toBeLessThan((OPEN * MAX_KEPT) / 4)
  expect(again === first).toBe(true)
  // A document of more than 16 MiB is made five times.
}, 120_000)

function textOf(body: ConstructorParameters<typeof Response>[0]): Promise<string> {
  return new Response(body).text()
}
