/**
 * The console: its page at `/` and at every unused address, and its files (docs/contract.md#the-console). Requests that accept
 * `text/html` get the page; others get the API's answer.
 */
import { ServiceError } from '../../src/core/error.ts'
import type { ConsoleFiles } from '../../src/ports/files.ts'
import type { TagOf } from '../../src/ports/ports.ts'
import { type Answer, json } from '../http/answer.ts'
import { tagsOf, withTag } from '../http/etag.ts'
import { type App, accepts, type Handler, mount } from '../http/mount.ts'
import { pageHeaders } from '../http/page.ts'
import { type AppContext, headerOf } from '../http/request.ts'

const headersOfPage = { ...pageHeaders(), 'Cross-Origin-Opener-Policy': 'same-origin', Vary: 'Accept' }

const apiIndex = {
  name: 'service',
  info: '/api/system/info',
  documents: { openapi: '/api/system/openapi', page: '/api/system/docs' },
  workspace: { openapi: '/api/{workspace}/openapi', items: '/api/{workspace}/items/{collection}' },
}

/** Files whose names have a hash of their content. */
const fileHeaders = { 'Cache-Control': 'public, max-age=31536000, immutable', Vary: 'Accept-Encoding' }

/** Ignores whatever a browser or a proxy adds to the address of a page. */
const open = { isProbe: true }

/** `files` is undefined if no console was built: then all requests get the API's answer. */
export function mountConsole(app: App, files: ConsoleFiles | undefined): void {
  const { tagOf } = app.ports
  mount(
    app,
    '/',
    {
      GET: (c) =>
        files !== undefined && wantsPage(c)
          ? pageOf(c, files, tagOf)
          : { ...json(apiIndex), headers: { Vary: 'Accept' } },
    },
    open,
  )
  const { file } = files ?? {}
  if (file === undefined) return
  mount(app, '/-/assets/:name', { GET: (c) => fileOf(c, file) }, open)
}

/** The handler of an address without a route; undefined if the console does not serve it. */
export function pageHandler(files: ConsoleFiles | undefined, tagOf: TagOf, c: AppContext): Handler | undefined {
  const isRead = c.req.method === 'GET' || c.req.method === 'HEAD'
  if (files === undefined || !isRead || !isPagePath(c.req.path) || !wantsPage(c)) return undefined
  return () => pageOf(c, files, tagOf)
}

/** True for every path except the API's and those that look like a file: a missing file must not return the page. */
function isPagePath(path: string): boolean {
  return !/^\/(api|-\/assets|assets)(\/|$)/.test(path) && !/^\/[^/]*\.\w+$/.test(path)
}

function wantsPage(c: AppContext): boolean {
  return accepts(headerOf(c, 'accept'), 'text/html')
}

async function pageOf(c: AppContext, files: ConsoleFiles, tagOf: TagOf): Promise<Answer> {
  const body = await files.page()
  const answer = withTag({ status: 200, body, headers: headersOfPage }, await tagOf(body), knownTags(c))
  return { ...answer, headers: { ...headersOfPage, ...answer.headers, 'Cache-Control': 'no-cache' } }
}

async function fileOf(c: AppContext, find: NonNullable<ConsoleFiles['file']>): Promise<Answer> {
  const found = find(c.req.path)
  if (found === undefined) throw new ServiceError('notFound', 'Not found')
  const coding = (['br', 'gzip'] as const).find((name) => accepts(headerOf(c, 'accept-encoding'), name))
  const headers = { ...fileHeaders, 'Content-Type': found.type, ...(coding && { 'Content-Encoding': coding }) }
  const tag = coding === undefined ? found.tag : `${found.tag}-${coding}`
  const known = knownTags(c)
  const body = known?.includes(tag) === true ? null : await found.bytes(coding)
  const answer = withTag({ status: 200, body, headers }, tag, known)
  return { ...answer, headers: { ...headers, ...answer.headers, ...fileHeaders } }
}

/** Ignores a malformed header. */
function knownTags(c: AppContext): readonly string[] | undefined {
  try {
    const tags = tagsOf(c, 'If-None-Match')
    return tags === 'any' ? undefined : tags
  } catch {
    return undefined
  }
}
