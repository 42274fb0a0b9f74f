/** docs/contract.md#files: what somebody uploads never runs in the browser of whoever opens it, with the rights of that person. */
import { deflateSync } from 'node:zlib'
import type { BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { gridOf, signedInAt } from '../support/service/console-page.ts'
import { type Workspace, world } from '../support/service/world.ts'

/** What a script does that runs: a request that each test looks for. */
const RAN = '/ran'
const script = `new Image().src='${RAN}?as='+encodeURIComponent(typeof document==='undefined'?'worker':location.href);`
/** As a page, a frame or a worker asks, whichever it is. */
const code = `try{${script}}catch{}try{fetch('${RAN}')}catch{}try{importScripts('${RAN}')}catch{}`
const html = `<!doctype html><html><body onload="${script}"><script>${code}</script><img src="${RAN}" onerror="${script}"><meta http-equiv="refresh" content="0;url=${RAN}"></body></html>`
const svg = `<svg xmlns="http://www.w3.org/2000/svg" onload="${script}" width="9" height="9"><script>${code}</script><image href="${RAN}"/><foreignObject><iframe xmlns="http://www.w3.org/1999/xhtml" src="javascript:${script}"/></foreignObject></svg>`
const xslt = `<?xml version="1.0"?><?xml-stylesheet type="text/xsl" href="#s"?><!DOCTYPE x [<!ATTLIST xsl:stylesheet id ID #REQUIRED>]><x><xsl:stylesheet id="s" version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform"><xsl:template match="/"><html><script>${code}</script></html></xsl:template></xsl:stylesheet></x>`
const css = `@import url('${RAN}');body{background:url('${RAN}')}`
const mhtml = `MIME-Version: 1.0\r\nContent-Type: multipart/related; boundary=b\r\n\r\n--b\r\nContent-Type: text/html\r\n\r\n${html}\r\n--b--\r\n`
const pixel = Buffer.from('R0lGODlhAQABAAAAACwAAAAAAQABAAA=', 'base64')

/** The type as which each does run, where nobody keeps it from that. */
const hostile: Readonly<Record<string, readonly [content: string | Buffer, type: string]>> = {
  'a.svg': [svg, 'image/svg+xml'],
  'a.html': [html, 'text/html'],
  'page.xhtml': [
    `<?xml version="1.0"?><html xmlns="http://www.w3.org/1999/xhtml"><script>${code}</script></html>`,
    'application/xhtml+xml',
  ],
  'styled.xml': [xslt, 'application/xml'],
  'a.js': [code, 'text/javascript'],
  'a.mjs': [`export {};${code}`, 'text/javascript'],
  'a.css': [css, 'text/css'],
  'mail.mht': [mhtml, 'multipart/related'],
  'script.png': [code, 'text/javascript'],
  'style.gif': [css, 'text/css'],
  'page.txt': [html, 'text/html'],
  page: [html, 'text/html'],
  'page.html;.png': [html, 'text/html'],
  'bom.html': [`\ufeff${html}`, 'text/html'],
  'page.pdf': [`%PDF-1.7\n${html}`, 'text/html'],
  'acting.pdf': [
    `%PDF-1.7\n1 0 obj<</Type/Catalog/OpenAction<</S/URI/URI(${RAN})>>/Pages 2 0 R>>endobj\n2 0 obj<</Type/Pages/Kids[]/Count 0>>endobj\ntrailer<</Root 1 0 R>>`,
    'application/pdf',
  ],
  'script.gif': [
    Buffer.concat([Buffer.from('GIF89a/*'), pixel.subarray(8), Buffer.from(`*/=1;${code}`)]),
    'text/javascript',
  ],
  'page.gif': [Buffer.concat([pixel, Buffer.from(html)]), 'text/html'],
  'page.png': [png(`tEXt`, `a\0${html}`), 'text/html'],
  'script.bmp': [
    Buffer.concat([Buffer.from('BM/*\0\0\0\0\0\0'), Buffer.alloc(40), Buffer.from(`*/=1;${code}`)]),
    'text/javascript',
  ],
  'page.zip': [Buffer.concat([Buffer.from('PK\x03\x04'), Buffer.alloc(26), Buffer.from(html)]), 'text/html'],
  'utf-16.html': [Buffer.from(`\ufeff${html}`, 'utf16le'), 'text/html'],
}

/** A page of the origin of the console without any policy of its own, in which all that embeds does so. */
const embedding = (
  url: string,
) => `<!doctype html><base href="/"><script src="${url}"></script><script type="module" src="${url}"></script>
  <link rel="stylesheet" href="${url}"><iframe src="${url}"></iframe><img src="${url}"><object data="${url}"></object>
  <object data="${url}" type="text/html"></object><embed src="${url}"><embed src="${url}" type="image/svg+xml">
  <video src="${url}"></video><video><track default src="${url}"></video><svg><use href="${url}#s"/></svg>
  <script>window.kept = [Worker, SharedWorker].map((Kind) => { try { return new Kind('${url}') } catch {} })
  window.refused = Promise.allSettled([import('${url}'), navigator.serviceWorker.register('${url}')])</script>`
const EMBEDDED = '/embedded'

let shop: Workspace
let page: Page
let context: BrowserContext
const ran: string[] = []

beforeAll(async () => {
  shop = await world.workspace('hostile_files', {})
  page = await signedInAt('/')
  context = page.context()
  // Of pages, frames and workers alike.
  await context.route(
    (url) => url.pathname.startsWith(RAN),
    (route) => {
      ran.push(route.request().url())
      return route.fulfill({ body: '' })
    },
  )
})

afterAll(() => context?.close())

async function upload(name: string, body: string | Buffer, type: string): Promise<string> {
  const path = `/assets?fileName=${encodeURIComponent(name)}`
  const response = await shop.send('POST', path, { raw: body, headers: { 'Content-Type': type } })
  const { data } = (await response.json()) as { data: { id: string } }
  return data.id
}

/**
 * Opens an address by itself, and in every element of a page of the same origin; returns what ran. `until` is what the page waits
 * for: `window.refused` ends once those scripts have failed that are asked for last.
 */
async function open(url: string, until = ''): Promise<readonly string[]> {
  ran.length = 0
  const tab = await context.newPage()
  await tab.route(
    (at) => at.pathname === EMBEDDED,
    (route) => route.fulfill({ contentType: 'text/html', body: embedding(url) }),
  )
  // What is kept ends the opening of a page.
  await tab.goto(url).catch(() => undefined)
  await tab.goto(new URL(EMBEDDED, world.url).href, { waitUntil: 'load' })
  await tab.evaluate(until)
  await tab.close()
  return [...ran]
}

describe('an uploaded file', () => {
  it.each(Object.entries(hostile))('runs nowhere: %j', async (name, [content, type]) => {
    const id = await upload(name, content, type)
    const { data } = (await (await shop.post(`/assets/${id}/link`, {})).json()) as { data: { url: string } }
    const at = `${world.url}/api/${shop.name}/assets/${id}`

    const seen = []
    for (const url of [at, `${at}?preset=64`, `${at}?download`, data.url]) {
      seen.push((await context.request.get(url)).status(), ...(await open(url, 'window.refused')))
    }
    ran.length = 0
    await page.goto(`${gridOf(shop, 'ServiceFile')}/${id}`)
    await page.getByRole('heading', { name }).first().waitFor()

    expect(seen).toEqual([200, 200, 200, 200])
    expect(ran).toEqual([])
  })

  it('would run, were it sent as what it is', async () => {
    const idle: string[] = []
    for (const [name, [body, contentType]] of Object.entries(hostile)) {
      const url = new URL('/naked', world.url).href
      await context.route(url, (route) => route.fulfill({ body, contentType }))
      if ((await open(url)).length === 0) idle.push(name)
      await context.unroute(url)
    }

    // No browser takes it over HTTP; this one shows no PDF.
    expect(idle).toEqual(['mail.mht', 'acting.pdf'])
  })
})

/** A picture with a chunk of one's own. */
function png(kind: string, content: string): Buffer {
  const chunk = (name: string, data: Buffer) => {
    const length = Buffer.alloc(4)
    length.writeUInt32BE(data.length)
    return Buffer.concat([length, Buffer.from(name), data, Buffer.alloc(4)])
  }
  const head = Buffer.from([0, 0, 0, 1, 0, 0, 0, 1, 8, 0, 0, 0, 0])
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1')
  return Buffer.concat([
    signature,
    chunk('IHDR', head),
    chunk(kind, Buffer.from(content)),
    chunk('IDAT', deflateSync(Buffer.alloc(2))),
    chunk('IEND', Buffer.alloc(0)),
  ])
}
