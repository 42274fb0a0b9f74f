/**
 * The types of files (docs/contract.md#files): what is sent as its type says, and shown in a browser, and what only as bytes
 * to keep. A browser must never run what somebody uploaded, with the rights of whoever looks at it.
 */

/** What a browser shows without running anything. */
const shown: ReadonlySet<string> = new Set([
  'image/png',
  'image/apng',
  'image/jpeg',
  'image/gif',
  'image/webp',
  'image/avif',
  'image/bmp',
  'audio/aac',
  'audio/flac',
  'audio/mp4',
  'audio/mpeg',
  'audio/ogg',
  'audio/wav',
  'video/mp4',
  'video/ogg',
  'video/webm',
  'text/plain',
])

/** What a browser would run, or make a page or its style of. */
const active =
  /^(text\/(html|css|xml|xsl|javascript|ecmascript|livescript|jscript|x-.*)|image\/svg.*|.*[/+]xml.*|application\/(x-)?(javascript|ecmascript|shockwave-flash|xhtml.*)|multipart\/.*|message\/.*)$/

export type Sending = { readonly contentType: string; readonly disposition: 'inline' | 'attachment' }

/** How a file of this type is sent. */
export function sendingOf(mediaType: string): Sending {
  if (mediaType === 'text/plain') return { contentType: 'text/plain; charset=utf-8', disposition: 'inline' }
  if (shown.has(mediaType)) return { contentType: mediaType, disposition: 'inline' }
  const isPlain = /^[a-z]+\/[a-z0-9][a-z0-9.+-]*$/.test(mediaType) && !active.test(mediaType)
  return { contentType: isPlain ? mediaType : UNKNOWN_TYPE, disposition: 'attachment' }
}

/** The type of what nothing is known of. */
const UNKNOWN_TYPE = 'application/octet-stream'

/** Texts have no signature, so that their names say what they are. */
const textTypes: Readonly<Record<string, string>> = {
  css: 'text/css',
  csv: 'text/csv',
  geojson: 'application/geo+json',
  htm: 'text/html',
  html: 'text/html',
  ics: 'text/calendar',
  js: 'text/javascript',
  json: 'application/json',
  jsonl: 'application/jsonl',
  md: 'text/markdown',
  mjs: 'text/javascript',
  ndjson: 'application/x-ndjson',
  svg: 'image/svg+xml',
  tsv: 'text/tab-separated-values',
  vtt: 'text/vtt',
  xml: 'application/xml',
  yaml: 'application/yaml',
  yml: 'application/yaml',
}

/** The type of a file without a known signature, by its first bytes and its name. */
export function textTypeOf(start: Uint8Array, isWhole: boolean, fileName: string): string {
  if (!isText(start, isWhole)) return UNKNOWN_TYPE
  const extension = fileName.slice(fileName.lastIndexOf('.') + 1).toLowerCase()
  return (Object.hasOwn(textTypes, extension) ? textTypes[extension] : undefined) ?? 'text/plain'
}

/** UTF-8 without controls, of which the last character may be cut. */
function isText(start: Uint8Array, isWhole: boolean): boolean {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(start, { stream: !isWhole })
    return !/\p{Cc}/u.test(text.replaceAll(/[\t\n\v\f\r]/g, ''))
  } catch {
    return false
  }
}

/** Whether one of `allowed`, types or families such as `image/*`, has the type; with none given all are. */
export function isAllowedType(mediaType: string, allowed: readonly string[] | undefined): boolean {
  return (
    allowed === undefined ||
    allowed.some((one) => one === mediaType || (one.endsWith('/*') && mediaType.startsWith(one.slice(0, -1))))
  )
}
