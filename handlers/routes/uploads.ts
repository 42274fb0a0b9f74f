/** `/api/{workspace}/assets/uploads…` (docs/contract.md#files): files of any size, sent in parts. */
import * as z from 'zod'
import { assetFault, checkFileName } from '../../src/core/assets/file-name.ts'
import { lazily } from '../../src/core/lazily.ts'
import type { ShownUpload } from '../../src/services/assets/uploads.ts'
import type { RequestScope } from '../../src/services/caller/callers.ts'
import type { Services } from '../../src/services/instance/services.ts'
import { data, dataText, noContent } from '../http/answer.ts'
import { bodyStream, readBody } from '../http/body.ts'
import { type App, mount } from '../http/mount.ts'
import { readOptions } from '../http/raw-query.ts'
import { type AppContext, pathParam } from '../http/request.ts'
import { idOf } from '../http/schemas.ts'
import { readIn } from '../http/sent.ts'
import { enterAssets, searchText, withUpload } from './assets.ts'

export const uploadBody = lazily(() =>
  z.strictObject({
    fileName: z.string(),
    fileSize: z.int().min(1),
    /** The sender's media type; the service determines the type from the bytes. */
    mediaType: z.string().max(255).optional(),
    /** Hash of the whole file, in base64 or base64url. */
    sha256: z
      .string()
      .regex(/^[\w+/-]{43}=?$/, 'must be a SHA-256 in base64')
      .optional(),
  }),
)

export function mountUploads(app: App, services: Services): void {
  const { uploads } = services
  const id = (c: AppContext) => idOf(c, 'The upload')

  async function enter(c: AppContext): Promise<RequestScope> {
    const scope = await enterAssets(services, c)
    await uploads.admit(scope)
    return scope
  }

  mount(app, '/api/:workspace/assets/uploads', {
    POST: async (c) => {
      const [scope, { fileName, fileSize, sha256 }] = await readIn(
        () => enter(c),
        () => readBody(c, uploadBody),
      )
      const upload = { fileName: checkFileName(fileName, 'fileName'), fileSize, sha256 }
      return data(shown(await uploads.begin(scope, upload)), 201)
    },
  })

  mount(app, '/api/:workspace/assets/uploads/:id', {
    GET: async (c) => data(shown(await uploads.read(await enter(c), id(c)))),
    DELETE: async (c) => {
      await uploads.remove(await enter(c), id(c))
      return noContent()
    },
  })

  mount(
    app,
    '/api/:workspace/assets/uploads/:id/complete',
    {
      POST: async (c) => {
        const query = { sent: searchText(c), ...readOptions(c) }
        return dataText(await uploads.complete(await enter(c), id(c), query), { status: 201 })
      },
    },
    { strictQuery: ['POST'], bodiless: ['POST'] },
  )

  // Mounted last, because `:number` would also match `complete`.
  mount(app, '/api/:workspace/assets/uploads/:id/:number', {
    PUT: withUpload(async (c) => {
      const scope = await enter(c)
      const number = Number(/^[1-9]\d{0,5}$/.exec(pathParam(c, 'number'))?.[0] ?? 0)
      await uploads.put(scope, id(c), number, async (size) => {
        // Allocated only when the first piece arrives, which has waited for room.
        let bytes = new Uint8Array()
        let length = 0
        for await (const piece of bodyStream(c, size)) {
          if (length === 0) bytes = new Uint8Array(size)
          bytes.set(piece, length)
          length += piece.length
        }
        if (length !== size) throw assetFault('body', `has ${length} bytes, part ${number} has ${size}`)
        await enter(c)
        return bytes
      })
      return noContent()
    }),
  })
}

function shown({ expiresAt, parts, ...upload }: ShownUpload): object {
  const there = parts.map(({ number, size }) => ({ n: number, size }))
  return { ...upload, parts: there, expiresAt: new Date(expiresAt).toISOString() }
}
