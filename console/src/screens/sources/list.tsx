/** What is attached: where each leads, whether it works, and how much of it is imported. */
import { pathTo } from '../../app/router.ts'
import { useQuery } from '../../data/queries.ts'
import { compareNames, formatNumber, formatTime } from '../../messages/messages.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { Button } from '../../ui/button.tsx'
import { Empty, Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import page from '../page.module.css'
import { changesOf } from './changes.tsx'
import {
  connectorsQuery,
  importedQuery,
  lookQuery,
  OWN,
  outlineQuery,
  type Source,
  type State,
  sourcesQuery,
  stateOf,
} from './data.ts'
import { EntitledLink, useEntitled } from './rights.tsx'
import styles from './sources.module.css'
import { sourceTitle } from './title.ts'

export function SourceList({ workspace }: { readonly workspace: string }) {
  const texts = sourceTexts.value
  const { data, error, refetch } = useQuery(sourcesQuery(workspace))
  const mayRead = useEntitled(workspace, 'dataModel:read')
  const { data: imported } = useQuery({ ...importedQuery(workspace), enabled: mayRead })
  const attached = data?.filter(({ apiName }) => apiName !== OWN) ?? []
  const add = (
    <EntitledLink
      workspace={workspace}
      rights={['dataSource:create', 'dataModel:edit']}
      href={pathTo(workspace, 'sources', 'new')}
      label={texts.attach}
    />
  )
  return (
    <div class={styles.part}>
      {attached.length > 0 && <div class={page.row}>{add}</div>}
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={4} />
      {data && (
        <Table
          label={texts.title}
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            {
              title: texts.source,
              cell: ({ id, apiName }) => <a href={pathTo(workspace, 'sources', id)}>{sourceTitle({ apiName })}</a>,
            },
            { title: texts.state, cell: (source) => <ShownState workspace={workspace} source={source} /> },
            { title: texts.provider, cell: (source) => <Kind workspace={workspace} source={source} /> },
            { title: texts.place, cell: (source) => <Where workspace={workspace} source={source} /> },
            {
              title: texts.collections,
              cell: ({ id }) => imported && formatNumber(imported.filter(({ sourceId }) => sourceId === id).length),
            },
            { title: texts.lookedAt, cell: (source) => <Looked workspace={workspace} source={source} /> },
          ]}
        />
      )}
      {data && attached.length === 0 && (
        <Empty title={texts.none} text={texts.noneText}>
          {add}
        </Empty>
      )}
    </div>
  )
}

type CellProps = { readonly workspace: string; readonly source: Source }

/** What it is an instance of, as people call it. */
export function Kind({ workspace, source: { provider } }: CellProps) {
  const mayRead = useEntitled(workspace, 'extension:read')
  const { data } = useQuery({ ...connectorsQuery(workspace), enabled: mayRead })
  return <>{data?.data.find(({ id }) => id === provider)?.name ?? provider}</>
}

/** The host of a database and the schemas of what is imported, or the hosts that a connector was granted. */
export function Where({ workspace, source: { id, apiName } }: CellProps) {
  const mayAsk = useEntitled(workspace, 'dataSource:create')
  const { data } = useQuery({ ...outlineQuery(workspace, id), enabled: mayAsk && apiName !== OWN })
  const mayRead = useEntitled(workspace, 'dataModel:read')
  const { data: imported = [] } = useQuery({ ...importedQuery(workspace), enabled: mayRead })
  if (data === undefined) return null
  const own = imported.filter(({ sourceId }) => sourceId === id)
  const schemas = [...new Set(own.flatMap(({ namespace }) => namespace?.dbName ?? []))].toSorted(compareNames)
  const { host, port, permissions, secrets } = data
  if (host !== undefined) return <bdi dir="ltr">{[`${host}:${port}`, ...schemas].join(' · ')}</bdi>
  if (permissions.length > 0) {
    return <bdi dir="ltr">{permissions.map(({ permission }) => permission.replace(/^net:/, '')).join(', ')}</bdi>
  }
  return secrets.length > 0 ? <span class={page.quiet}>{sourceTexts.value.sealed}</span> : null
}

/** How a source was last seen; asked for where nobody has looked lately. */
export function useLook({ workspace, source: { id } }: CellProps) {
  const mayLook = useEntitled(workspace, 'dataModel:edit')
  const look = useQuery({ ...lookQuery(workspace, id), enabled: mayLook })
  const mayRead = useEntitled(workspace, 'dataModel:read')
  const { data: imported } = useQuery({ ...importedQuery(workspace), enabled: mayRead })
  const isNew = imported?.every(({ sourceId }) => sourceId !== id) === true
  const state: State = mayLook ? stateOf(look, isNew) : { name: 'unknown' }
  return { look, mayLook, state }
}

export function ShownState(props: CellProps) {
  const { look, state } = useLook(props)
  const { data: imported = [] } = useQuery({ ...importedQuery(props.workspace), enabled: state.name === 'changed' })
  const count = changesOf(look.data?.operations ?? [], imported).length
  return (
    <span class={styles.state}>
      <span class={styles.mark} data-state={state.name}>
        {sourceTexts.value.states[state.name]}
        {state.name === 'changed' && count > 0 && `: ${sourceTexts.value.toImport(formatNumber(count), count)}`}
      </span>
      {state.reason && <span class={page.quiet}>{state.reason}</span>}
    </span>
  )
}

function Looked(props: CellProps) {
  const texts = sourceTexts.value
  const { look, mayLook } = useLook(props)
  const at = Math.max(look.dataUpdatedAt, look.errorUpdatedAt)
  if (!mayLook) return null
  return (
    <span class={styles.actions}>
      {at > 0 && <span>{`${texts.lookedAt}: ${formatTime(at, { timeStyle: 'short' })}`}</span>}
      <Button
        isSmall
        isBusy={look.isFetching}
        aria-label={texts.lookOf(sourceTitle(props.source))}
        onClick={() => void look.refetch()}
      >
        {texts.look}
      </Button>
    </span>
  )
}
