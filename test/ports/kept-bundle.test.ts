/** The bundle of an extension is kept, and what was kept is never older than what it was made of. */
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, readFile, realpath, rm, utimes, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { bundleExtension } from '../../src/platform/node/connectors/extension-bundler.ts'
import { keptAt } from '../../src/platform/node/connectors/kept-bundle.ts'

let folder: string

beforeEach(async () => {
  folder = await mkdtemp(join(await realpath(tmpdir()), 'extension-'))
  await put('index.ts', `import { answer } from './answer'; export const setup = () => answer`)
  await put('answer.js', `export const answer = 'early'`)
})

afterEach(async () => {
  await rm(folder, { recursive: true })
  await rm(keptAt(folder, 'index.ts'), { force: true })
})

/** As a tool may that restores the times of files. */
async function put(name: string, text: string, time = new Date('2026-01-01')): Promise<void> {
  await writeFile(join(folder, name), text)
  await utimes(join(folder, name), time, time)
}

const bundled = async () => {
  const bundling = await bundleExtension(folder, 'index.ts')
  return bundling.kind === 'bundled' ? bundling.code : bundling.reason
}

const isKept = () => existsSync(keptAt(folder, 'index.ts'))

it('is used again as long as nothing has changed', async () => {
  const code = await bundled()
  const kept = keptAt(folder, 'index.ts')
  await writeFile(kept, (await readFile(kept, 'utf8')).replace('early', 'as kept'))

  expect(await bundled()).toBe(code.replace('early', 'as kept'))
})

it('is made anew when an imported file has another content, whatever its size and time', async () => {
  await bundled()
  await put('answer.js', `export const answer = 'later'`)

  expect(await bundled()).toContain('"later"')
})

it('is made anew when an import means another file', async () => {
  await bundled()
  await put('answer.ts', `export const answer: string = 'typed'`)

  expect(await bundled()).toContain('"typed"')
})

it('is made anew when a configuration changes', async () => {
  await put('package.json', `{"imports": {"#answer": "./answer.js"}}`)
  await put('index.ts', `import { answer } from '#answer'; export const setup = () => answer`)
  await put('other.js', `export const answer = 'other'`)
  await bundled()
  await put('package.json', `{"imports": {"#answer": "./other.js"}}`)

  expect(await bundled()).toContain('"other"')
})

it('is not kept while its files are worked on', async () => {
  await put('answer.js', `export const answer = 'now'`, new Date())

  expect(await bundled()).toContain('"now"')
  expect(isKept()).toBe(false)
})

it('is not kept where it has a package in it', async () => {
  await mkdir(join(folder, 'node_modules/answer'), { recursive: true })
  await put('node_modules/answer/index.js', `export const answer = 'package'`)
  await put('index.ts', `import { answer } from 'answer'; export const setup = () => answer`)

  expect(await bundled()).toContain('"package"')
  expect(isKept()).toBe(false)
})
