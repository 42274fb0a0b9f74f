/** One source: where it leads, whether it works and what to do where it does not, what is imported, and its end. */
import { useState } from 'preact/hooks'
import { CodeButton } from '../../app/code.tsx'
import { pathTo } from '../../app/router.ts'
import { useQuery } from '../../data/queries.ts'
import { compareNames, formatNumber, formatTime, listed, t } from '../../messages/messages.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Heading } from '../../ui/heading.tsx'
import { Notice, Pending } from '../../ui/notice.tsx'
import { Entries } from '../audit/entries.tsx'
import { Missing } from '../missing.tsx'
import page from '../page.module.css'
import { ChangeConnection } from './connection.tsx'
import {
  attachPath,
  connectorsQuery,
  importedQuery,
  OWN,
  outlineQuery,
  type Source,
  type State,
  sourcesQuery,
  sourcesRequest,
} from './data.ts'
import { DeleteSource } from './delete.tsx'
import { Grants } from './grants.tsx'
import { Import } from './import.tsx'
import { Kind, ShownState, useLook, Where } from './list.tsx'
import { useEntitled, useLacking } from './rights.tsx'
import { WriteSecret } from './secrets.tsx'
import styles from './sources.module.css'
import { sourceTitle } from './title.ts'

type OneProps = { readonly workspace: string; readonly id: string }

export function OneSource({ workspace, id }: OneProps) {
  const { data, error, refetch } = useQuery(sourcesQuery(workspace))
  const source = data?.find((one) => one.id === id)
  if (data === undefined) return <Pending data={data} error={error} onRetry={() => void refetch()} lines={6} />
  if (source === undefined) return <Missing workspace={workspace} />
  return <Shown workspace={workspace} source={source} />
}

type SourceProps = { readonly workspace: string; readonly source: Source }

function Shown({ workspace, source }: SourceProps) {
  const texts = sourceTexts.value
  const { id, apiName } = source
  const isOwn = apiName === OWN
  const title = sourceTitle(source)
  const { look, mayLook, state } = useLook({ workspace, source })
  const lookedAt = Math.max(look.dataUpdatedAt, look.errorUpdatedAt)
  const mayRead = useEntitled(workspace, 'dataModel:read')
  const { data: imported = [] } = useQuery({ ...importedQuery(workspace), enabled: mayRead })
  const own = imported.filter(({ sourceId }) => sourceId === id)
  return (
    <>
      <p class={page.quiet}>
        <a href={pathTo(workspace, 'sources')}>{texts.toPart}</a>
      </p>
      <div class={page.head}>
        <Heading text={title} called={[title, t.value.shell.sources]} />
        <span class={page.row}>
          <Entries workspace={workspace} id={id} name={title} />
          <CodeButton request={() => sourcesRequest(workspace, id)} />
        </span>
      </div>
      <section class={styles.part} aria-label={texts.state}>
        <h2>{texts.state}</h2>
        <div class={page.row}>
          <ShownState workspace={workspace} source={source} />
          {mayLook && (
            <Button isBusy={look.isFetching} onClick={() => void look.refetch()}>
              {texts.look}
            </Button>
          )}
          {lookedAt > 0 && <span class={page.quiet}>{`${texts.lookedAt}: ${formatTime(lookedAt)}`}</span>}
        </div>
        {!mayLook && <p class={page.quiet}>{t.value.palette.takes('dataModel:edit')}</p>}
        <WayBack workspace={workspace} source={source} state={state} />
      </section>
      {!isOwn && <Settings workspace={workspace} source={source} state={state} />}
      {mayLook && <Import workspace={workspace} source={source} />}
      <section class={styles.part} aria-label={texts.collections}>
        <h2>{texts.collections}</h2>
        <p class={page.quiet}>{texts.count(formatNumber(own.length), own.length)}</p>
        <Collections workspace={workspace} names={own.map((one) => one.apiName)} />
      </section>
      <Deletion workspace={workspace} source={source} names={own.map((one) => one.apiName)} />
    </>
  )
}

type StateProps = SourceProps & { readonly state: State }

/** What to do where it does not work. */
function WayBack({ workspace, source: { id, provider }, state: { name, isRefused } }: StateProps) {
  const texts = sourceTexts.value
  const mayRead = useEntitled(workspace, 'extension:read')
  const { data } = useQuery({ ...connectorsQuery(workspace), enabled: mayRead })
  const mayAttach = useEntitled(workspace, 'dataSource:create', 'dataModel:edit')
  const mayAsk = useEntitled(workspace, 'dataSource:create')
  const { data: outline } = useQuery({ ...outlineQuery(workspace, id), enabled: mayAsk })
  if (name !== 'grant' && name !== 'off' && name !== 'starting' && name !== 'failing') return null
  const connector = data?.data.find((one) => one.id === provider)
  const why = connector?.unavailableReason ?? undefined
  const broken = name === 'off' && connector === undefined ? (data?.meta?.broken ?? []) : []
  return (
    <>
      <Notice
        look="warning"
        action={
          name === 'grant' &&
          mayAttach && <ButtonLink href={attachPath(workspace, provider)}>{texts.attachAnew}</ButtonLink>
        }
      >
        {why && `${why}. `}
        {texts.ways[isRefused && why === undefined ? 'refused' : name]}
        {outline?.mayChange && (name === 'failing' || isRefused) && ` ${texts.ways.below}`}
      </Notice>
      {broken.length > 0 && (
        <ul class={styles.lines} aria-label={texts.broken}>
          {broken.map(({ location, reason }) => (
            <li key={location}>
              <code dir="ltr">{location}</code>: {reason}
            </li>
          ))}
        </ul>
      )}
    </>
  )
}

function Settings({ workspace, source, state }: StateProps) {
  const texts = sourceTexts.value
  const lacking = useLacking({ workspace, rights: ['dataSource:create'] })
  const isEntitled = lacking?.length === 0
  const { data, error, refetch } = useQuery({ ...outlineQuery(workspace, source.id), enabled: isEntitled })
  const granted = data?.permissions ?? []
  const required = state.required ?? granted
  const [changed, setChanged] = useState<'connection' | { readonly secret: string }>()
  const close = () => setChanged(undefined)
  return (
    <section class={styles.part} aria-label={texts.settings}>
      <h2>{texts.settings}</h2>
      <dl class={styles.facts}>
        <dt>{texts.provider}</dt>
        <dd>
          <Kind workspace={workspace} source={source} />
        </dd>
        {data && (
          <>
            <dt>{texts.place}</dt>
            <dd>
              <Where workspace={workspace} source={source} />
            </dd>
            <dt>{texts.usedSecrets}</dt>
            <dd>
              {data.secrets.length === 0 ? (
                texts.noSecrets
              ) : (
                <a href={pathTo(workspace, 'sources', 'secrets')}>{listed(data.secrets)}</a>
              )}
            </dd>
          </>
        )}
      </dl>
      {lacking && !isEntitled && <p class={page.quiet}>{t.value.palette.takes(lacking.join(', '))}</p>}
      {isEntitled && <Pending data={data} error={error} onRetry={() => void refetch()} lines={2} />}
      <p class={page.quiet}>{texts.settingsText}</p>
      {data && (
        <div class={page.row}>
          {data.secrets.map((secret) => (
            <Button key={secret} onClick={() => setChanged({ secret })}>
              {texts.changeSecret(secret)}
            </Button>
          ))}
          {data.mayChange && <Button onClick={() => setChanged('connection')}>{texts.changeConnection}</Button>}
        </div>
      )}
      {data && changed === 'connection' && (
        <ChangeConnection workspace={workspace} source={source} outline={data} onClose={close} />
      )}
      {changed !== undefined && changed !== 'connection' && (
        <WriteSecret workspace={workspace} name={changed.secret} users={[source.apiName]} onClose={close} />
      )}
      {required.length + granted.length > 0 && (
        <>
          <h3>{texts.grants}</h3>
          <p class={page.quiet}>{texts.grantsText}</p>
          <Grants required={required} granted={isEntitled ? granted : undefined} />
        </>
      )}
    </section>
  )
}

type CollectionsProps = { readonly workspace: string; readonly names: readonly string[] }

/** So many are shown; the navigation finds the others. */
const SHOWN = 60

export function Collections({ workspace, names }: CollectionsProps) {
  if (names.length === 0) return null
  const rest = names.length - SHOWN
  return (
    <ul class={styles.names} aria-label={sourceTexts.value.collections}>
      {names
        .toSorted(compareNames)
        .slice(0, SHOWN)
        .map((name) => (
          <li key={name}>
            <a href={pathTo(workspace, 'items', name)} dir="auto">
              {name}
            </a>
          </li>
        ))}
      {rest > 0 && <li class={page.quiet}>{sourceTexts.value.andMore(formatNumber(rest), rest)}</li>}
    </ul>
  )
}

function Deletion({ workspace, source, names }: SourceProps & { readonly names: readonly string[] }) {
  const texts = sourceTexts.value
  const lacking = useLacking({ workspace, rights: ['dataSource:delete'] })
  const [isOpen, setOpen] = useState(false)
  if (lacking === undefined) return null
  const isOwn = source.apiName === OWN
  return (
    <section class={styles.part} aria-label={texts.delete}>
      <h2>{texts.delete}</h2>
      <p class={page.quiet}>{isOwn ? texts.ownStays : texts.deleteText}</p>
      {!isOwn && lacking.length > 0 && <p class={page.quiet}>{t.value.palette.takes(lacking.join(', '))}</p>}
      {!isOwn && lacking.length === 0 && (
        <div class={page.row}>
          <Button look="risky" onClick={() => setOpen(true)}>
            {texts.deleteOf(source.apiName)}
          </Button>
        </div>
      )}
      {isOpen && <DeleteSource workspace={workspace} source={source} names={names} onClose={() => setOpen(false)} />}
    </section>
  )
}
