/** Whatever comments, tests and documents refer to exists here: documents, their anchors, decisions. No other paper is cited. */
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '..')
const decisions = new Set(readdirSync(join(root, 'docs/decisions')).map((name) => name.slice(0, 3)))

/** Ways to cite papers that are not in the repository; a random seed is none. */
const elsewhere =
  /\bthe\sseed\b|\bseed['’]s\b|\bseed, ["“]|\s\(seed[),;]|\breference[ -]facts?\b|\bcontract,? (?:and )?\d|\bthe contract\b(?! suite)|\bthreats?(?: rows?)? \d|\bplatform[ -]notes\b|\.\.\/shared\//gi

const paths = ['src', 'handlers', 'packages', 'scripts', 'extensions', 'test', 'docs']
  .flatMap((folder) =>
    readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name)),
  )
  .filter((path) => !/\/(node_modules|dist)(\/|$)/.test(path))
  .concat('README.md', 'CONTRIBUTING.md', 'CHANGELOG.md', 'wrangler.toml', 'vitest.config.ts', 'package.json')

const files = paths.filter((path) => /\.(ts|js|sh|ya?ml|toml|md)$/.test(path)).map(readFile)

/** Every file and folder by each end of its path, as `core/sql` or `read.ts`. */
const pathEnds = new Set(
  paths.flatMap((path) => {
    const names = path.split('/')
    return names.map((_, index) => names.slice(index).join('/'))
  }),
)

it('finds every document and anchor that is cited by its path', () => {
  const unknown = files.flatMap(({ path, text }) =>
    [...text.matchAll(/(?<![\w./-])(docs\/[\w/-]+\.md)((?:(?:,| and)? ?#[\w-]+)*)/g)]
      .flatMap(([, target = '', anchors = '']) => [
        target,
        ...(anchors.match(/#[\w-]+/g) ?? []).map((anchor) => target + anchor),
      ])
      .filter((target) => !isThere(target))
      .map((target) => `${path}: ${target}`),
  )

  expect(unknown).toEqual([])
})

it('finds every file and folder that comments and documents name', () => {
  const unknown = files.flatMap(({ path, prose }) =>
    [...prose.matchAll(/(?<![\w./<>@$-])[a-z][\w./-]*(?![\w./*…{<-])/g)]
      .map(([name]) => name.replace(/[./]+$/, ''))
      .filter((name) => isOurs(name) && !pathEnds.has(name))
      .map((name) => `${path}: ${name}`),
  )

  expect(unknown).toEqual([])
})

it('finds every decision that is cited by its number', () => {
  const unknown = files.flatMap(({ path, text }) =>
    [...text.matchAll(/\bdecisions?[ /](\d{3})(?:(?:,| and) (\d{3}))*/gi)]
      .flatMap(([cited]) => cited.match(/\d{3}/g) ?? [])
      .filter((number) => !decisions.has(number))
      .map((number) => `${path}: decision ${number}`),
  )

  expect(unknown).toEqual([])
})

it('finds no citation of a paper that is not here', () => {
  const strays = files.flatMap(({ path, text }) => [...text.matchAll(elsewhere)].map(([found]) => `${path}: ${found}`))

  expect(strays).toEqual([])
})

it('finds the target of every link between documents', () => {
  const unknown = files
    .filter(({ path }) => path.endsWith('.md'))
    .flatMap(({ path, text }) =>
      [...text.matchAll(/\]\((?!\w+:)([^()\s]+)\)/g)]
        .map(([, target = '']) => (target.startsWith('#') ? path + target : join(dirname(path), target)))
        .filter((target) => !isThere(target))
        .map((target) => `${path}: ${target}`),
    )

  expect(unknown).toEqual([])
})

it('gives every anchor of the specification to one place', () => {
  const anchors = anchorsOf('docs/contract.md')

  expect(anchors.length).toBeGreaterThan(23)
  expect(anchors.filter((anchor, index) => anchors.indexOf(anchor) !== index)).toEqual([])
})

/** Its text as one line, because a citation may run over the end of a comment's line, and what of it is not code. */
function readFile(path: string): { readonly path: string; readonly text: string; readonly prose: string } {
  const whole = readFileSync(join(root, path), 'utf8')
  const comments = [...whole.matchAll(/\/\*\*.*?\*\/|(?<=^|\s)\/\/ .*?$/gms)].map(([comment]) => comment)
  return {
    path,
    text: whole.replace(/\s*\n\s*(?:\*(?!\/)|\/\/)?\s*/g, ' '),
    prose: path.endsWith('.md') ? whole : comments.join('\n'),
  }
}

/** Whether a name can only be that of a file or folder of this repository. Capitals are for the reader to fill in: `routes/FAMILY.ts`. */
function isOurs(name: string): boolean {
  if (/\b[A-Z]{3,}\b/.test(name)) return false
  if (/\.(ts|js|sh)$/.test(name)) return !name.endsWith('.d.ts') && !existsSync(join(root, 'node_modules', name))
  return /^(src|handlers|test|core|services|sources|store|platform)\//.test(name)
}

function isThere(target: string): boolean {
  const [path = '', anchor] = target.split('#')
  if (!existsSync(join(root, path))) return false
  return anchor === undefined || anchorsOf(path).includes(anchor)
}

/** Explicit ids, and what GitHub makes of headings. */
function anchorsOf(path: string): readonly string[] {
  const text = readFileSync(join(root, path), 'utf8')
  const ids = [...text.matchAll(/<a id="([\w-]+)">/g)].map(([, id = '']) => id)
  const headings = [...text.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) => slug(heading))
  return [...ids, ...headings]
}

function slug(heading: string): string {
  return heading
    .toLowerCase()
    .replace(/[^\p{Letter}\p{Number} _-]/gu, '')
    .replaceAll(' ', '-')
}
