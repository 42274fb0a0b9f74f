/**
 * `/api/{workspace}/docs` and `/api/system/docs`: pages that show the OpenAPI documents (docs/contract.md#openapi).
 * They are public and contain no data; the document that they load requires a credential. All resources come from the
 * own origin, and there are no inline scripts.
 */

import { ServiceError } from '../../src/core/error.ts'
import type { Assets } from '../../src/ports/files.ts'
import type { Answer } from '../http/answer.ts'
import { type App, mount } from '../http/mount.ts'
import { pageHeaders } from '../http/page.ts'
import { pathParam } from '../http/request.ts'

const types: Readonly<Record<string, string>> = {
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui.css': 'text/css; charset=utf-8',
  'reference.js': 'text/javascript; charset=utf-8',
  'reference.css': 'text/css; charset=utf-8',
}

/** The viewer sets `style` attributes, and its style sheet contains `data:` images. */
const headersOfPage = pageHeaders({ 'style-src-attr': "'unsafe-inline'", 'img-src': "'self' data:" })

export function mountReference(app: App, assets: Assets): void {
  const page = async (): Promise<Answer> => ({
    status: 200,
    body: await assets('reference.html'),
    headers: headersOfPage,
  })

  mount(app, '/api/system/docs', { GET: page })
  mount(app, '/api/:workspace/docs', { GET: page })

  mount(app, '/api/system/docs/:file', {
    GET: async (c) => {
      const name = pathParam(c, 'file')
      const type = Object.hasOwn(types, name) ? types[name] : undefined
      if (type === undefined) throw new ServiceError('notFound', 'Not found')
      const headers = { 'Content-Type': type, 'Cache-Control': 'public, max-age=3600' }
      return { status: 200, body: await assets(name), headers }
    },
  })
}
