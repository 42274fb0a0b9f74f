/** The suite of files over S3, and what a server of S3 does that others do not. */
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.ts'
import { openS3, type S3Options } from '../../src/platform/files/s3.ts'
import { type ContentsDeps, createContents } from '../../src/services/assets/contents.ts'
import { type S3Server, startS3 } from '../support/servers/s3.ts'
import { bytesOf, describeFileStore, newKey, numbered, openChecked } from './file-store.ts'

let server: S3Server

beforeAll(async () => {
  server = await startS3()
})

afterAll(() => server.close())

describeFileStore('S3', {
  open: () => openS3(server.address),
  unreachable: { open: () => openS3({ ...server.address, secretAccessKey: 'another' }), told: 'SignatureDoesNotMatch' },
})

describe('FileStore: S3', () => {
  it('says that it cannot be reached, and not that bytes are missing, where there is no such bucket', async () => {
    const { files, observed } = openChecked(openS3({ ...server.address, bucket: 'elsewhere' }))

    const asked = files.read(newKey(), 1, 0, 1)

    await expect(asked).rejects.toMatchObject({ message: 'The store of files cannot be reached' })
    expect(JSON.stringify(observed)).not.toContain(server.address.secretAccessKey)
  })
})

describe('FileStore: S3 that fails for a while', () => {
  const key = newKey()

  it.each([
    ['is busy', (answer: ServerResponse) => answer.writeHead(503).end('<Error><Code>SlowDown</Code></Error>')],
    ['cuts the connection', (answer: ServerResponse) => answer.destroy()],
  ])('is asked again, three times in all, where it %s', async (_, fail) => {
    const asked: string[] = []
    const scripted = await startScripted((request, answer) => {
      asked.push(`${request.method} ${request.url}`)
      if (asked.length < 3) fail(answer)
      else answer.end()
    })
    const { files } = openChecked(openS3(scripted.address))

    await files.put(key, 1, numbered(10))
    await scripted.close()

    expect(asked).toEqual(Array(3).fill(`PUT /below/files/${key}/1`))
  })

  it('is not asked again after a refusal, nor after the time limit, whose answer names nothing of it', async () => {
    let count = 0
    const scripted = await startScripted((request, answer) => {
      count += 1
      if (request.method === 'PUT') answer.writeHead(403).end('<Error><Code>AccessDenied</Code></Error>')
    })
    const { files, observed } = openChecked(openS3({ ...scripted.address, timeLimit: 200 }))

    const refused = await files.put(key, 1, numbered(10)).catch((error: unknown) => error)
    const late = await files.parts(key).catch((error: unknown) => error)
    await scripted.close()

    const unreached = { kind: 'unavailable', message: 'The store of files cannot be reached' }
    expect([refused, late]).toMatchObject([unreached, unreached])
    expect(observed.map((fault) => fault.kind === 'fault' && (fault.error as Error).cause)).toMatchObject([
      { message: 'status 403 AccessDenied' },
      { message: 'no answer in 200 ms' },
    ])
    expect(count).toBe(2)
  })

  it('lets a reader take longer than the time limit', async () => {
    const scripted = await startScripted(async (_, answer) => {
      answer.writeHead(206, { 'Content-Range': 'bytes 0-1/2' }).write('a')
      await new Promise((resolve) => setTimeout(resolve, 300))
      answer.end('b')
    })
    const { files } = openChecked(openS3({ ...scripted.address, timeLimit: 200 }))

    const bytes = await bytesOf(files.read(key, 1, 0, 2))
    await scripted.close()

    expect(new TextDecoder().decode(bytes)).toBe('ab')
  })

  it('sends no more when a reader has left', async () => {
    const left = Promise.withResolvers<void>()
    const scripted = await startScripted((_, answer) => {
      answer.writeHead(206, { 'Content-Range': 'bytes 0-999/1000' }).write('a')
      answer.on('close', () => left.resolve())
    })
    const { files } = openChecked(openS3(scripted.address))
    const reader = (await files.read(key, 1, 0, 1_000)).getReader()

    await reader.read()
    await reader.cancel()

    await left.promise
    await scripted.close()
  })

  it('ends with an error where it sends less than it promised, and where it says that it deleted only some', async () => {
    const scripted = await startScripted((request, answer) => {
      if (request.method === 'POST')
        answer.end('<DeleteResult><Error><Code>InternalError</Code></Error></DeleteResult>')
      else if (request.url?.includes('list-type')) {
        answer.end(`<ListBucketResult><Contents><Key>${key}/1</Key><Size>1</Size></Contents></ListBucketResult>`)
      } else {
        answer.writeHead(206, { 'Content-Range': 'bytes 0-19/20' }).write('half', () => answer.destroy())
      }
    })
    const { files, observed } = openChecked(openS3(scripted.address))

    const bytes = await bytesOf(files.read(key, 1, 0, 20)).catch((error: unknown) => error)
    const cleared = await files.clear(key).catch((error: unknown) => error)
    await scripted.close()

    const unreached = { kind: 'unavailable', message: 'The store of files cannot be reached' }
    expect([bytes, cleared]).toMatchObject([unreached, unreached])
    expect(observed).toHaveLength(2)
  })

  it.each([
    ['fewer bytes', 'half'],
    ['more bytes', 'twice as many bytes, and more'],
  ])('is not believed where it sends %s than it says', async (_, sent) => {
    const reading = readConfig({})
    if (reading.kind === 'invalid') throw new Error(reading.faults.join())
    const { config } = reading
    const scripted = await startScripted((_, answer) => {
      answer.writeHead(206, { 'Content-Range': 'bytes 0-19/20' }).end(sent)
    })
    const { files } = openChecked(openS3(scripted.address))
    const ports = { files, observe: () => {} } as Partial<ContentsDeps['ports']> as ContentsDeps['ports']
    const contents = createContents({ ports, config })
    const [id = '', contentKey = ''] = key.split('/')

    const read = contents.read({ id, apiName: 'shop' }, contentKey, { first: 0, last: 19 })
    const outcome = await readAll(read).catch((error: unknown) => error)
    await scripted.close()

    expect(outcome).toMatchObject({ message: 'The bytes of this file are missing' })
  })

  it('is not believed where its list names no parts, however long it is', async () => {
    const scripted = await startScripted((_, answer) => answer.end('<Contents>'.repeat(400_000)))
    const { files } = openChecked(openS3(scripted.address))

    await expect(files.parts(key)).rejects.toMatchObject({ kind: 'unavailable' })
    await scripted.close()
  })

  it('follows no redirect, which would take a signature elsewhere', async () => {
    const scripted = await startScripted((request, answer) => {
      if (request.url?.startsWith('/below/')) answer.writeHead(307, { Location: '/elsewhere' }).end()
      else answer.end()
    })
    const { files } = openChecked(openS3(scripted.address))

    await expect(files.put(key, 1, numbered(1))).rejects.toMatchObject({ kind: 'unavailable' })
    await scripted.close()
  })
})

async function readAll(pieces: AsyncGenerator<Uint8Array>): Promise<number> {
  let length = 0
  for await (const piece of pieces) length += piece.length
  return length
}

/** A server that answers as it is told to. */
async function startScripted(answer: (request: IncomingMessage, response: ServerResponse) => unknown) {
  const scripted = createServer(answer)
  await once(scripted.listen(0, '127.0.0.1'), 'listening')
  const { port } = scripted.address() as AddressInfo
  const address: S3Options = { ...server.address, endpoint: `http://127.0.0.1:${port}/below/` }
  return {
    address,
    async close() {
      scripted.closeAllConnections()
      scripted.close()
      await once(scripted, 'close')
    },
  }
}
