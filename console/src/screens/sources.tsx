/** The data sources of a workspace: what is attached, one of them, a new one, what can be attached, and named secrets. */
import { CodeButton } from '../app/code.tsx'
import { address, navigate, pathTo } from '../app/router.ts'
import { sourceTexts } from '../messages/sources.ts'
import { Heading } from '../ui/heading.tsx'
import { Tabs } from '../ui/tabs.tsx'
import { ConnectDatabase } from './connect-database.tsx'
import page from './page.module.css'
import { Connectors } from './sources/connectors.tsx'
import { sourcesChanged, sourcesRequest } from './sources/data.ts'
import { SourceList } from './sources/list.tsx'
import { Entitled } from './sources/rights.tsx'
import { Secrets } from './sources/secrets.tsx'
import { OneSource } from './sources/source.tsx'
import styles from './sources/sources.module.css'

type SourcesProps = {
  readonly workspace: string
  /** `list`, `connectors`, `secrets`, `new`, or the id of a source. */
  readonly part: string
}

const parts = ['list', 'connectors', 'secrets'] as const
type Part = (typeof parts)[number]

const rights: Readonly<Record<Part, readonly string[]>> = {
  list: ['dataSource:read'],
  connectors: ['extension:read'],
  secrets: ['dataSource:create'],
}

export default function Sources({ workspace, part }: SourcesProps) {
  const texts = sourceTexts.value
  const current = parts.find((one) => one === part)
  if (part === 'new') return <NewSource workspace={workspace} />
  if (current === undefined) {
    return (
      <div class={page.page}>
        <Entitled workspace={workspace} rights={rights.list}>
          <OneSource key={part} workspace={workspace} id={part} />
        </Entitled>
      </div>
    )
  }
  return (
    <div class={page.page}>
      <div class={page.head}>
        <Heading text={texts.title} called={[...(current === 'list' ? [] : [texts.parts[current]]), texts.title]} />
        {current === 'list' && <CodeButton request={() => sourcesRequest(workspace)} />}
      </div>
      <Tabs
        label={texts.title}
        tabs={parts.map((one) => ({
          href: partPath(workspace, one),
          title: texts.parts[one],
          isCurrent: one === current,
        }))}
      />
      <p class={page.quiet}>{texts.about[current]}</p>
      <Entitled workspace={workspace} rights={rights[current]}>
        {current === 'list' && <SourceList workspace={workspace} />}
        {current === 'connectors' && <Connectors workspace={workspace} />}
        {current === 'secrets' && <Secrets workspace={workspace} />}
      </Entitled>
    </div>
  )
}

function partPath(workspace: string, part: Part): string {
  return part === 'list' ? pathTo(workspace, 'sources') : pathTo(workspace, 'sources', part)
}

function NewSource({ workspace }: { readonly workspace: string }) {
  const done = (collection: string | undefined) => {
    void sourcesChanged(workspace)
    navigate(collection === undefined ? pathTo(workspace, 'sources') : pathTo(workspace, 'items', collection))
  }
  return (
    <div class={page.page}>
      <Heading text={sourceTexts.value.attach} />
      <Entitled workspace={workspace} rights={['dataSource:create', 'dataModel:edit']}>
        <div class={styles.narrow}>
          <ConnectDatabase
            workspace={workspace}
            first={address.value.searchParams.get('provider') ?? undefined}
            onDone={done}
            onBack={() => {
              void sourcesChanged(workspace)
              navigate(pathTo(workspace, 'sources'))
            }}
          />
        </div>
      </Entitled>
    </div>
  )
}
