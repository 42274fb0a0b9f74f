/** Files that were deleted within the last day, and their return: one's own of this visit, and those of the audit log for who may read it. */
import { files } from 'governed-data-client/files'
import { useState } from 'preact/hooks'
import { clientOf } from '../../data/client.ts'
import { deletedHere, FILES } from '../../data/files.ts'
import { type Query, queries, useQuery } from '../../data/queries.ts'
import { accessQuery } from '../../data/workspaces.ts'
import { accessTexts } from '../../messages/access.ts'
import { formatTime, t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Notice, Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { actorOf, deletionsQuery, nameIn } from '../audit/data.ts'
import page from '../page.module.css'
import { faultOf } from '../submission.tsx'

type DeletedFile = { readonly id: string; readonly name: string; readonly time: string; readonly by?: string }

const KIND = 'deleted files'

/** Without those that are there again. */
function deletedQuery(workspace: string, mayReadLog: boolean): Query<readonly DeletedFile[]> {
  const logged = async () => {
    const entries = await queries.fetchQuery({ ...deletionsQuery(workspace), staleTime: 0 })
    return entries.map((entry) => ({
      id: String(entry.targetId),
      name: nameIn(entry.payload) ?? String(entry.targetId),
      time: entry.time,
      by: actorOf(entry),
    }))
  }
  return {
    queryKey: [KIND, workspace, mayReadLog],
    staleTime: 0,
    queryFn: async () => {
      const own = deletedHere.value.filter((one) => one.workspace === workspace)
      const all = [...(mayReadLog ? await logged() : []), ...own]
      const found = [...new Map(all.toReversed().map((one) => [one.id, one])).values()].toReversed()
      if (found.length === 0) return []
      const query = { fields: 'id', limit: 0, filter: { id: { _in: found.map(({ id }) => id) } } }
      const there = clientOf(workspace).$request<{ readonly data: readonly { readonly id: string }[] }>(
        'GET',
        `items/${FILES}`,
        { query },
      )
      const ids = new Set((await there.orThrow()).data.map(({ id }) => id))
      return found.filter(({ id }) => !ids.has(id))
    },
  }
}

export function DeletedFiles({ workspace, onClose }: { readonly workspace: string; readonly onClose: () => void }) {
  const texts = t.value.files.deleted
  const { data: access } = useQuery(accessQuery(workspace))
  const mayReadLog = access?.entitlements.includes('auditLog:read') === true
  const { data, error, refetch } = useQuery(deletedQuery(workspace, mayReadLog))
  const [fault, setFault] = useState<string>()
  const [busy, setBusy] = useState<string>()
  const restore = async ({ id, name }: DeletedFile) => {
    setBusy(id)
    setFault(undefined)
    const answer = await files(clientOf(workspace)).restore(id)
    setBusy(undefined)
    if (!answer.ok) return setFault(faultOf(answer, { 404: texts.gone(name) }))
    showToast(texts.restored(name))
    void refetch()
    void queries.invalidateQueries({ queryKey: ['files', workspace] })
  }
  return (
    <Dialog title={texts.title} onClose={onClose} isWide>
      {fault && <Notice look="danger">{fault}</Notice>}
      <p>{texts.text}</p>
      {!mayReadLog && <p class={page.quiet}>{texts.ownOnly}</p>}
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={3} />
      {data?.length === 0 && <p class={page.quiet}>{texts.none}</p>}
      {data && data.length > 0 && (
        <Table
          wraps
          label={texts.title}
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            {
              title: texts.name,
              cell: ({ name, time, by }) => (
                <>
                  <bdi>{name}</bdi>
                  <br />
                  <span class={page.quiet}>
                    {formatTime(time)} · <bdi>{by ?? texts.you}</bdi>
                  </span>
                </>
              ),
            },
            {
              title: accessTexts.value.actions,
              cell: (file) => (
                <Button
                  isBusy={busy === file.id}
                  aria-label={texts.restoreOf(file.name)}
                  onClick={() => void restore(file)}
                >
                  {texts.restore}
                </Button>
              ),
            },
          ]}
        />
      )}
      <DialogActions>
        <Button onClick={onClose}>{t.value.common.close}</Button>
      </DialogActions>
    </Dialog>
  )
}
