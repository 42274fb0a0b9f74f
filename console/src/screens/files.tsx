/** The files of a workspace as a gallery: found by name or by being unused, uploaded by a button or dropped anywhere. */
import type { ManifestText } from 'governed-data-client/generate'
import { useState } from 'preact/hooks'
import { itemPath } from '../app/router.ts'
import { clientOf } from '../data/client.ts'
import { FILES, type FileRow } from '../data/files.ts'
import { type Query, useQuery } from '../data/queries.ts'
import { accessQuery, manifestQuery } from '../data/workspaces.ts'
import { formatNumber, t } from '../messages/messages.ts'
import { Button } from '../ui/button.tsx'
import { Checkbox } from '../ui/checkbox.tsx'
import { Heading } from '../ui/heading.tsx'
import { Empty, Fault, Skeleton } from '../ui/notice.tsx'
import { DeletedFiles } from './files/deleted.tsx'
import styles from './files/files.module.css'
import { sizeText } from './files/size.ts'
import { Tiles } from './files/tiles.tsx'
import { UploadButton, Uploads, uploadAll, useDrop } from './files/uploads.tsx'
import { Missing } from './missing.tsx'
import page from './page.module.css'

/** So many are shown at first, and more of them each time. */
const PAGE = 60
const PLACE = 'files'

type Search = { readonly text: string; readonly isUnused: boolean; readonly limit: number }
type Found = { readonly data: readonly FileRow[]; readonly meta?: { readonly totalCount?: number } }

function filesQuery(workspace: string, search: Search, back: readonly string[]): Query<Found> {
  const conditions = [
    ...(search.text === '' ? [] : [{ fileName: { _icontains: search.text } }]),
    ...(search.isUnused ? back.map((relation) => ({ [relation]: { _none: {} } })) : []),
  ]
  return {
    queryKey: ['files', workspace, 'list', search, back],
    staleTime: 0,
    queryFn: async () => {
      const query = {
        fields: 'id,fileName,fileSize,mediaType',
        sort: [{ createdAt: { direction: 'desc' } }],
        limit: search.limit,
        meta: 'totalCount',
        ...(conditions.length > 0 && { filter: { _and: conditions } }),
      }
      return clientOf(workspace).$request<Found>('GET', `items/${FILES}`, { query }).orThrow()
    },
  }
}

/** Names of the lists of what refers to a file. */
function listsOf(manifest: ManifestText | undefined): readonly string[] {
  const { strings = [], serviceSchema } = manifest ?? {}
  const files = serviceSchema?.collections.find(({ apiName }) => strings[apiName] === FILES)
  return (files?.relationFields ?? []).filter(({ isList }) => isList).map(({ apiName }) => strings[apiName] ?? '')
}

export default function Files({ workspace }: { readonly workspace: string }) {
  const texts = t.value.files
  const [search, setSearch] = useState<Search>({ text: '', isUnused: false, limit: PAGE })
  const { data: access } = useQuery(accessQuery(workspace))
  const { data: manifest } = useQuery(manifestQuery(workspace))
  const back = listsOf(manifest)
  const { data: found, error, refetch } = useQuery(filesQuery(workspace, search, back))
  const rights = access?.collections[FILES]
  const mayUpload = (rights?.create ?? 'none') !== 'none'
  const mayRestore = mayUpload && (rights?.delete ?? 'none') !== 'none'
  const [isRestoring, setRestoring] = useState(false)
  const take = (chosen: readonly File[]) => uploadAll(workspace, PLACE, chosen)
  const isOver = useDrop(mayUpload, take)
  if (access !== undefined && (rights?.read ?? 'none') === 'none') return <Missing workspace={workspace} />
  const change = (changed: Partial<Search>) => setSearch({ ...search, limit: PAGE, ...changed })
  const total = found?.meta?.totalCount ?? 0
  const isFiltered = search.text !== '' || search.isUnused
  return (
    <div class={`${page.page} ${styles.page}`}>
      <div class={page.head}>
        <Heading text={texts.title} />
        <span class={page.row}>
          {mayRestore && <Button onClick={() => setRestoring(true)}>{texts.deleted.open}</Button>}
          {mayUpload && (
            <UploadButton look="primary" isMany onFiles={take}>
              {texts.upload}
            </UploadButton>
          )}
        </span>
      </div>
      <div class={page.row}>
        <input
          type="search"
          class={styles.find}
          aria-label={texts.find}
          placeholder={texts.find}
          value={search.text}
          onInput={({ currentTarget }) => change({ text: currentTarget.value.trim() })}
        />
        {back.length > 0 && (
          <span title={texts.unusedHint}>
            <Checkbox label={texts.unused} isChecked={search.isUnused} onCheck={(isUnused) => change({ isUnused })} />
          </span>
        )}
        <span class={page.quiet} role="status">
          {found && texts.count(formatNumber(total), total)}
        </span>
      </div>
      <Uploads place={PLACE} />
      {error && !found && <Fault error={error} onRetry={() => void refetch()} />}
      {!found && !error && <Skeleton lines={6} />}
      {found?.data.length === 0 && (
        <Empty
          title={isFiltered ? texts.noneFound : texts.none}
          {...(mayUpload && !isFiltered && { text: texts.drop })}
        />
      )}
      {found && found.data.length > 0 && (
        <Tiles
          workspace={workspace}
          label={texts.title}
          tiles={found.data.map(({ id, fileName, fileSize, mediaType }) => ({
            href: itemPath(workspace, FILES, [id]),
            name: fileName,
            detail: sizeText(fileSize),
            file: { id, mediaType },
          }))}
        />
      )}
      {found && total > found.data.length && (
        <span>
          <Button onClick={() => setSearch({ ...search, limit: search.limit + PAGE })}>{texts.more}</Button>
        </span>
      )}
      {isRestoring && <DeletedFiles workspace={workspace} onClose={() => setRestoring(false)} />}
      {isOver && (
        <div class={styles.over} aria-hidden="true">
          {texts.dropHere}
        </div>
      )}
    </div>
  )
}
