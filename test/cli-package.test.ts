/** What the command line is made of (decision 081): the client and Node, and nothing else. */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { VERSION } from '../packages/cli/src/version.ts'

const folder = 'packages/cli'
const { version, dependencies } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
const client = JSON.parse(readFileSync('packages/client/package.json', 'utf8'))
const sources = readdirSync(join(folder, 'src'), { recursive: true, encoding: 'utf8' })
  .filter((name) => name.endsWith('.ts'))
  .map((name) => readFileSync(join(folder, 'src', name), 'utf8'))

it('the command line has the version that it tells, and the client of the same release', () => {
  expect(VERSION).toBe(version)
  expect(dependencies).toEqual({ 'governed-data-client': client.version })
})

it('the command line imports its own files, Node and the client', () => {
  const targets = sources.flatMap((text) =>
    [...text.matchAll(/(?:from|import\()\s*'([^']+)'/g)].map(([, target]) => target),
  )

  expect(
    targets.filter((target) => !/^(\.\.?\/[\w./-]+\.ts|node:[\w/]+|governed-data-client(\/\w+)?)$/.test(target ?? '')),
  ).toEqual([])
})

it('the page of the command line has every command and every flag', () => {
  const page = readFileSync('docs/command-line.md', 'utf8')
  const given = sources.flatMap((text) => [...text.matchAll(/^ {2}name: '([\w ]+)',$/gm)].map(([, name = '']) => name))
  const flags = sources.flatMap((text) =>
    [...text.matchAll(/^(?: {2}flags:|export const commonFlags =) \{(.+)\}/gm)].flatMap(([, list = '']) =>
      [...list.matchAll(/([\w-]+)'?: '(?:value|switch)'/g)].map(([, name = '']) => name),
    ),
  )

  expect(given.length).toBeGreaterThan(9)
  expect(flags.length).toBeGreaterThan(9)
  expect(given.filter((name) => !page.includes(`\`governed ${name}`))).toEqual([])
  expect(flags.filter((name) => !page.includes(`--${name}`))).toEqual([])
})
