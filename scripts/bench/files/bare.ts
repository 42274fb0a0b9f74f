/** The bare handler of files: what arrives goes into the store part by part, what is asked for comes out, and nothing else is done. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { openFileFolder } from '../../../src/platform/node/file-folder.ts'
import { PART_SIZE } from '../../../src/ports/files.ts'
import { answerParent } from '../child.ts'

export type BareFilesStart = { readonly directory: string; readonly size: number }

answerParent(async ({ directory, size }: BareFilesStart) => {
  const store = openFileFolder(directory)

  async function take(request: IncomingMessage, key: string): Promise<void> {
    let chunks: Buffer[] = []
    let [held, number] = [0, 0]
    const put = async () => {
      number += 1
      await store.put(key, number, Buffer.concat(chunks))
      chunks = []
      held = 0
    }
    for await (const chunk of request as AsyncIterable<Buffer>) {
      for (let from = 0; from < chunk.length; ) {
        const piece = chunk.subarray(from, from + PART_SIZE - held)
        chunks.push(piece)
        held += piece.length
        from += piece.length
        if (held === PART_SIZE) await put()
      }
    }
    if (held > 0) await put()
  }

  async function send(response: ServerResponse, key: string): Promise<void> {
    response.setHeader('Content-Length', size)
    for (let at = 0; at < size; at += PART_SIZE) {
      const part = await store.read(key, at / PART_SIZE + 1, 0, Math.min(PART_SIZE, size - at))
      for await (const piece of part ?? []) if (!response.write(piece)) await once(response, 'drain')
    }
    response.end()
  }

  const server = createServer(async (request, response) => {
    const key = request.url?.slice(1) ?? ''
    if (request.method === 'GET') return send(response, key)
    await take(request, key)
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
})
