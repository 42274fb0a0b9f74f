/**
 * The examples of docs/api.md, run from top to bottom: each `http` block is a request and its answer. A text `<name>` stands
 * for a value of this instance, the same wherever the name is, but for times. An answer may have more members than are shown, a
 * list more entries only where it begins or ends with `…`.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { world } from '../support/service/world.ts'

type Json = null | boolean | number | string | readonly Json[] | { readonly [member: string]: Json }

const guide = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8')
const examples = [...guide.matchAll(/^```http\n(.*?)\n```$/gms)].map(([, text = '']) => read(text))
const shop = world.name('shop')

/** What stands for the names. */
const known = new Map([
  ['administrator', world.administrator.email],
  ['password', world.administrator.password],
])

it.each(examples)('$method $path', async ({ method, path, headers, body, status, fields, answer }) => {
  const caller = path.startsWith('/api/auth/') ? world.anonymous : world.administrator
  const response = await caller.send(method, own(path), {
    headers: Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, own(value)])),
    ...(body !== '' && { body: own(body).replaceAll('"shop"', JSON.stringify(shop)) }),
  })
  const text = await response.text()
  const told = Object.fromEntries(Object.keys(fields).map((name) => [name, response.headers.get(name)]))

  expect(told).toEqual(filled(fields, told))
  expect([response.status, text]).toEqual([status, answer === '' ? '' : expect.any(String)])
  if (answer === '') return
  const found = JSON.parse(text) as Json
  expect(found).toMatchObject(filled(JSON.parse(answer.replaceAll('"shop"', JSON.stringify(shop))), found) as object)
})

function read(text: string) {
  const [asked = '', answered = ''] = text.split(/\n\n(?=HTTP\/1\.1 )/)
  const [head = '', body = ''] = asked.split(/\n\n(.*)/s)
  const [line = '', ...lines] = head.split('\n')
  const [, method = '', path = ''] = /^(\S+) (.+)$/.exec(line) ?? []
  const [status = '', answer = ''] = answered.split(/\n\n(.*)/s)
  const [state = '', ...told] = status.split('\n')
  const headers = headersOf(lines)
  return {
    method,
    path,
    headers,
    body,
    status: Number(state.slice('HTTP/1.1 '.length)),
    fields: headersOf(told),
    answer,
  }
}

function headersOf(lines: readonly string[]): Record<string, string> {
  return Object.fromEntries(lines.map((line) => line.split(': ') as [string, string]))
}

/** With the workspace of this run, and with what earlier answers said. */
function own(text: string): string {
  return text.replace('/api/shop/', `/api/${shop}/`).replace(/<([^<>]+)>/g, (_, name: string) => {
    const value = known.get(name)
    if (value === undefined) throw new Error(`no answer above has <${name}>`)
    return value
  })
}

/** `shown` with values for its names: what is known, else what was found, which is then known unless it is a time. */
function filled(shown: Json, found: Json | undefined): Json {
  if (typeof shown === 'string') {
    const [, name] = /^<(.+)>$/.exec(shown) ?? []
    if (name === undefined) return shown
    const value = known.get(name)
    if (value !== undefined) return value
    if (typeof found === 'string' && name !== 'time') known.set(name, found)
    return found === undefined ? `a value for <${name}>` : found
  }
  if (shown === null || typeof shown !== 'object') return shown
  if (Array.isArray(shown)) {
    const items = Array.isArray(found) ? found : []
    const listed = shown.filter((one) => one !== '…')
    const start = shown[0] === '…' ? items.findIndex((item) => isLike(listed[0], item)) : 0
    const more = shown.at(-1) === '…' ? items.slice(start + listed.length) : []
    return [...items.slice(0, start), ...listed.map((one, at) => filled(one, items[start + at])), ...more]
  }
  return Object.fromEntries(
    Object.entries(shown).map(([member, value]) => [
      member,
      filled(value, (found as { [member: string]: Json } | null)?.[member]),
    ]),
  )
}

/** Whether the texts of `shown` that are no names stand in `found`, too. */
function isLike(shown: Json | undefined, found: Json): boolean {
  return Object.entries(shown ?? {}).every(
    ([member, value]) =>
      typeof value !== 'string' || value.startsWith('<') || (found as { [member: string]: Json })[member] === value,
  )
}
