/** What a browser loads of the console, in bytes as they are sent (decision 091). */
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { beforeAll, expect, it } from 'vitest'
import { consoleFolder } from '../scripts/console/build.ts'

const KIB = 1024

let folder: string
let first: readonly string[]

beforeAll(async () => {
  folder = (await consoleFolder()) ?? ''
  const page = readFileSync(join(folder, 'index.html'), 'utf8')
  first = [...page.matchAll(/(?:src|href)="\/([^"]+)"/g)].map(([, path = '']) => path)
})

const sizeOf = (names: readonly string[]) =>
  names.reduce((sum, name) => sum + gzipSync(readFileSync(join(folder, name)), { level: 6 }).length, 0)

it('loads at most 60 KiB of script and 12 KiB of style with the page', () => {
  const scripts = first.filter((name) => name.endsWith('.js'))
  const styles = first.filter((name) => name.endsWith('.css'))

  expect(scripts.length * styles.length).toBeGreaterThan(0)
  expect(sizeOf(scripts)).toBeLessThanOrEqual(60 * KIB)
  expect(sizeOf(styles)).toBeLessThanOrEqual(12 * KIB)
})

it('loads at most 20 KiB with any screen or language that comes later', () => {
  const later = readdirSync(join(folder, '-/assets'))
    .map((name) => `-/assets/${name}`)
    .filter((name) => !first.includes(name))

  expect(later.filter((name) => sizeOf([name]) > 20 * KIB)).toEqual([])
})
