/** The documentation: the list of its pages, and the one that the address names, in English. */

import { type Node, pages } from 'virtual:documentation'
import { type ComponentChildren, type ComponentType, h } from 'preact'
import { useEffect, useState } from 'preact/hooks'
import { lazy } from '../app/lazy.tsx'
import { address, lastInWorkspace, routeOf } from '../app/router.ts'
import { help } from '../messages/help.ts'
import { CopyButton } from '../ui/copy-button.tsx'
import { useNames } from '../ui/heading.tsx'
import styles from './documentation.module.css'
import { Missing } from './missing.tsx'

type Page = (typeof pages)[number]

/** Where the list of pages stands beside them, as in documentation.module.css. */
const wide = matchMedia('(width >= 60rem)')

const linkTo = ({ path }: Page) => `/-/docs/${path}`

export default function Documentation() {
  const { pathname } = address.value
  const index = pathname === '/-/docs' ? 0 : pages.findIndex((page) => linkTo(page) === pathname)
  const page = pages[index]
  useNames([page?.title ?? '', help.value.all])
  if (page === undefined) return <Missing />
  const next = pages[index + 1]
  const Body = bodyOf(page)
  const [isWide, setWide] = useState(wide.matches)
  useEffect(() => {
    const turn = () => setWide(wide.matches)
    wide.addEventListener('change', turn)
    return () => wide.removeEventListener('change', turn)
  }, [])
  return (
    <div class={styles.documentation}>
      <div class={styles.side}>
        <Back />
        {/* In a narrow window it closes with the choice. */}
        <details key={isWide ? '' : page.path} class={styles.pages} open={isWide}>
          <summary>{help.value.pages}</summary>
          <nav aria-label={help.value.pages}>
            <Pages current={page} />
          </nav>
        </details>
      </div>
      <div class={styles.page} lang="en" dir="ltr">
        <Body key={page.path} />
        {next && (
          <p>
            {help.value.next} <a href={linkTo(next)}>{next.title}</a>
          </p>
        )}
      </div>
    </div>
  )
}

/** To where one came from, which the pages read in between do not change. */
function Back() {
  const last = lastInWorkspace()
  const from = last && routeOf(last.pathname)
  if (last === undefined || from === undefined || !('workspace' in from)) return <a href="/">{help.value.home}</a>
  return <a href={last.pathname + last.search}>{help.value.back(from.workspace)}</a>
}

/** Sections of the document that is read. */
function Pages({ current }: { readonly current: Page }) {
  const document = current.path.split('/')[0]
  const shown = pages.filter(({ path, isSection }) => !isSection || path.split('/')[0] === document)
  return (
    <ul lang="en" dir="ltr">
      {shown.map((page) => (
        <li key={page.path} class={page.isSection ? styles.section : undefined}>
          <a href={linkTo(page)} aria-current={page === current ? 'page' : undefined}>
            {page.title}
          </a>
        </li>
      ))}
    </ul>
  )
}

const bodies = new Map<Page, ComponentType>()

function bodyOf(page: Page): ComponentType {
  const made =
    bodies.get(page) ??
    lazy(async () => {
      const nodes = await page.load()
      return { default: () => <Body page={page} nodes={nodes} /> }
    })
  bodies.set(page, made)
  return made
}

function Body({ page, nodes }: { readonly page: Page; readonly nodes: readonly Node[] }) {
  const { hash } = address.value
  useEffect(() => {
    const place = hash === '' ? undefined : document.getElementById(decodeURIComponent(hash.slice(1)))
    if (place) place.scrollIntoView()
    else document.querySelector('main')?.scrollTo(0, 0)
  }, [hash])
  return (
    <>
      <article>{nodes.map(drawn)}</article>
      {page.headings.length > 1 && page.path !== 'glossary' && <On page={page} />}
    </>
  )
}

function drawn(node: Node): ComponentChildren {
  if (typeof node === 'string') return node
  const [tag, attributes, children] = node
  if (tag === 'pre') return <Code text={textOf(node)} />
  return h(tag, attributes, children.map(drawn))
}

function Code({ text }: { readonly text: string }) {
  return (
    <div class={styles.code}>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys as well */}
      <pre class={styles.text} tabIndex={0}>
        <code>{text}</code>
      </pre>
      <CopyButton text={text} isSecondary />
    </div>
  )
}

function textOf(node: Node): string {
  return typeof node === 'string' ? node : node[2].map(textOf).join('')
}

function On({ page }: { readonly page: Page }) {
  return (
    <nav aria-label={help.value.onPage} class={styles.on}>
      <ul>
        {page.headings.map(({ id, title }) => (
          <li key={id}>
            <a href={`#${id}`}>{title}</a>
          </li>
        ))}
      </ul>
    </nav>
  )
}
