/**
 * docs/api.md names every route, and no other. A route is named as `GET, POST /api/{workspace}/roles`, `…` for the path named
 * before it, `{sources|indexes}` for several in one; a path without a method is read. Names of parameters do not matter.
 */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { sqlProviders } from '../../src/core/sql/address.ts'
import { mountedRoutes } from '../support/mounted-routes.ts'

const guide = readFileSync(join(import.meta.dirname, '../../docs/api.md'), 'utf8')

const mounted = (await mountedRoutes()).map((route) => route.replace(/\{\w+\}/g, '{}'))
const text = guide.replace(/^```.*?^```$/gms, '')
const named = inText()

it('names every route', () => {
  const missing = mounted.filter((route) => !named.includes(route))

  expect(missing).toEqual([])
})

it('names no other, nor has an example of one', () => {
  const examples = [...guide.matchAll(/^```http\n(\w+) (\/[^?\s]*)/gm)].map(([, method, path]) => `${method} ${path}`)
  const unknown = [...named, ...examples].filter((route) => !mounted.some((known) => leadsTo(route, known)))

  expect(examples.length).toBeGreaterThan(0)
  expect(unknown).toEqual([])
})

it('names every built-in provider of data sources, as does the specification', () => {
  const specification = readFileSync(join(import.meta.dirname, '../../docs/contract.md'), 'utf8')

  const missing = sqlProviders.filter((name) => ![guide, specification].every((page) => page.includes(`\`${name}\``)))

  expect(missing).toEqual([])
})

function inText(): readonly string[] {
  let before = ''
  return [...text.matchAll(/`((?:[A-Z]{3,6}(?:, )?)+ )?((?:…)?\/[^`?\s[]*)[^`]*`/g)].flatMap(
    ([, methods = 'GET', shown = '']) => {
      const path = shown.replace('…', before)
      if (!/^\/(api\b|ping|metrics|$)/.test(path)) return []
      if (!shown.startsWith('…')) before = path
      return methods
        .trim()
        .split(', ')
        .flatMap((method) => eachOf(path).map((one) => `${method} ${one.replace(/\{\w+\}/g, '{}')}`))
    },
  )
}

/** `/a/{b|c}` is `/a/b` and `/a/c`. */
function eachOf(path: string): readonly string[] {
  const [, start = '', choice, end = ''] = /^(.*)\{([^{}|]+\|[^{}]+)\}(.*)$/.exec(path) ?? []
  return choice === undefined ? [path] : choice.split('|').map((one) => start + one + end)
}

/** Whether `route` is the mounted one, with values for its parameters, or the beginning of it. */
function leadsTo(route: string, known: string): boolean {
  const parts = known.split('/')
  return route
    .replace(/(?<=.)\/$/, '')
    .split('/')
    .every((part, index) => part === parts[index] || parts[index] === '{}')
}
