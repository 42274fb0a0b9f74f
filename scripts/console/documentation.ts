/**
 * The documentation as pages of the console: files of docs/, those that are long cut at their sections. A plugin of Vite gives the list of
 * pages as a module, and each page as one that is loaded when it is read.
 */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Marked, type MarkedToken, type Token, type Tokens } from 'marked'
import type { Plugin } from 'vite'

/** What users, operators and authors of connectors read, in this order; what only developers of the service need is left out. */
export const documents = [
  'tutorial',
  'api',
  'command-line',
  'types',
  'operators',
  'errors',
  'manifest',
  'contract',
  'connectors',
  'assistant',
  'operations',
  'configuration',
  'licensing',
  'deploy-node',
  'deploy-workers',
  'glossary',
] as const

/** A page of its own for each section. */
const LONG: ReadonlySet<string> = new Set(['api', 'contract'])

export type DocumentationPage = {
  /** Behind `/-/docs/`. */
  readonly path: string
  readonly title: string
  /** Whether it is a section of the page before it that is none. */
  readonly isSection: boolean
  readonly headings: readonly { readonly id: string; readonly title: string }[]
  readonly body: DocumentationNodes
}

type Heading = { readonly id: string; readonly title: string; readonly depth: number }
type Part = { readonly path: string; readonly tokens: Token[]; readonly headings: Heading[] }

/** The pages of the documents of a folder, in order. Throws where a link leads to no heading of theirs. */
export async function documentationPages(folder: string): Promise<readonly DocumentationPage[]> {
  const texts = await Promise.all(documents.map((name) => readFile(join(folder, `${name}.md`), 'utf8')))
  const parts = documents.flatMap((name, index) => partsOf(name, texts[index] ?? ''))
  const places = new Map(
    parts.flatMap(({ path, tokens, headings }) => {
      const file = path.split('/')[0]
      const marks = tokens.flatMap(({ raw }) => [...raw.matchAll(/<a id="([\w-]+)">/g)].map(([, id = '']) => id))
      return [...headings.map(({ id }) => id), ...marks].map(
        (id) => [`${file}#${id}`, `/-/docs/${path}#${id}`] as const,
      )
    }),
  )
  return parts.map((part) => pageOf(part, places))
}

function partsOf(name: string, text: string): readonly Part[] {
  const parts: Part[] = [{ path: name, tokens: [], headings: [] }]
  const known = new Map<string, number>()
  for (const token of new Marked().lexer(text)) {
    if (token.type === 'heading') {
      const { depth, text: title } = token as Tokens.Heading
      const slug = slugOf(title)
      const count = known.get(slug) ?? 0
      known.set(slug, count + 1)
      const id = count === 0 ? slug : `${slug}-${count}`
      if (depth === 2 && LONG.has(name)) parts.push({ path: `${name}/${id}`, tokens: [], headings: [] })
      parts.at(-1)?.headings.push({ id, title: plain(title), depth })
    }
    parts.at(-1)?.tokens.push(token)
  }
  return parts
}

/** As GitHub makes it, so that a link is the same in the repository. */
function slugOf(title: string): string {
  return plain(title)
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N}\s_-]/gu, '')
    .replaceAll(' ', '-')
}

function plain(title: string): string {
  return title.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '')
}

function pageOf({ path, tokens, headings }: Part, places: ReadonlyMap<string, string>): DocumentationPage {
  const [first] = headings
  const page = { path, places, isSection: path.includes('/'), ids: headings.map(({ id }) => id) }
  return {
    path,
    title: first?.title ?? path,
    isSection: page.isSection,
    headings: headings.slice(1).map(({ id, title }) => ({ id, title })),
    body: drawn(tokens, page),
  }
}

/** What a page is made of: texts, and elements with their attributes and what is in them. */
export type DocumentationNode =
  | string
  | readonly [string, Readonly<Record<string, string | number>>, DocumentationNodes]
export type DocumentationNodes = readonly DocumentationNode[]

type Page = {
  readonly path: string
  readonly places: ReadonlyMap<string, string>
  readonly isSection: boolean
  /** Of the headings that are still to come. */
  readonly ids: string[]
}

function drawn(tokens: readonly Token[], page: Page): DocumentationNodes {
  return tokens.flatMap((token) => nodesOf(token as MarkedToken, page))
}

/** Throws for what the documents have not had so far. */
function nodesOf(token: MarkedToken, page: Page): DocumentationNodes {
  const within = (tokens: readonly Token[]) => drawn(tokens, page)
  switch (token.type) {
    case 'space':
    case 'def':
      return []
    case 'heading': {
      const level = token.depth - (page.isSection ? 1 : 0)
      return [[`h${level}`, { id: page.ids.shift() ?? '' }, within(token.tokens)]]
    }
    case 'paragraph':
      return [['p', {}, within(token.tokens)]]
    case 'list':
      return [[token.ordered ? 'ol' : 'ul', {}, token.items.map((item) => ['li', {}, within(item.tokens)])]]
    case 'text':
      return token.tokens === undefined ? [plainText(token.text)] : within(token.tokens)
    case 'escape':
      return [token.text]
    case 'strong':
    case 'em':
      return [[token.type, {}, within(token.tokens)]]
    case 'codespan':
      return [['code', {}, [token.text]]]
    case 'code':
      return [['pre', { tabIndex: 0 }, [['code', {}, [token.text]]]]]
    case 'link': {
      const target = targetOf(token.href, page)
      return target === undefined ? within(token.tokens) : [['a', { href: target }, within(token.tokens)]]
    }
    case 'table': {
      const row = (cells: readonly Tokens.TableCell[], name: string): DocumentationNode => [
        'tr',
        {},
        cells.map((cell) => [name, {}, within(cell.tokens)]),
      ]
      const body = token.rows.map((cells) => row(cells, 'td'))
      const table: DocumentationNodes = [
        ['thead', {}, [row(token.header, 'th')]],
        ['tbody', {}, body],
      ]
      return [['div', { tabIndex: 0 }, [['table', {}, table]]]]
    }
    case 'html': {
      const [, id] = /^<a id="([\w-]+)">/.exec(token.raw) ?? []
      return id === undefined ? [] : [['a', { id }, []]]
    }
    default:
      throw new Error(`docs/${page.path}: ${token.type} is not known here`)
  }
}

/** Entities as what they stand for. */
function plainText(text: string): string {
  return text.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&amp;', '&')
}

/** Undefined for what is no page here, such as a decision. */
function targetOf(href: string, { path, places }: Page): string | undefined {
  if (/^https?:/.test(href)) return href
  const [, name = '', anchor] = /^(?:([\w-]+)\.md)?(?:#(.+))?$/.exec(href) ?? []
  const file = path.split('/')[0] ?? ''
  const document = name === '' ? file : name
  if ((name === '' && anchor === undefined) || !documents.some((one) => one === document)) return undefined
  if (anchor === undefined) return `/-/docs/${document}`
  const place = places.get(`${document}#${anchor}`)
  if (place === undefined) throw new Error(`docs/${file}.md: ${href} leads to no heading`)
  return place
}

const LIST = 'virtual:documentation'

/** The pages as modules: `virtual:documentation` is their list, in which `load` brings what one is made of. */
export function documentation(folder: string): Plugin {
  let pages: ReadonlyMap<string, DocumentationPage> = new Map()
  return {
    name: 'documentation',
    async buildStart() {
      pages = new Map((await documentationPages(folder)).map((page) => [page.path, page]))
    },
    resolveId: (id) => (id.startsWith(LIST) ? `\0${id}` : undefined),
    load(id) {
      if (id === `\0${LIST}`) {
        const listed = [...pages.values()].map(({ body: _, ...page }) => {
          const module = JSON.stringify(`${LIST}/${page.path}`)
          return `{...${JSON.stringify(page)},load:async()=>(await import(${module})).default}`
        })
        return `export const pages=[${listed.join()}]`
      }
      const page = pages.get(id.slice(LIST.length + 2))
      return page === undefined ? undefined : `export default ${JSON.stringify(page.body)}`
    },
  }
}
