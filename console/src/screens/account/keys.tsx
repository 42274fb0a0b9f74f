/** One's own API keys: made, switched off and on, deleted. */
import { useState } from 'preact/hooks'
import { system } from '../../data/client.ts'
import { type Query, queries, useQuery } from '../../data/queries.ts'
import type { User } from '../../data/session.ts'
import { formatTime, t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import page from '../page.module.css'
import { faultOf } from '../submission.tsx'
import styles from './account.module.css'
import { NewKey } from './new-key.tsx'
import { Section } from './section.tsx'

type Scope = {
  readonly workspaces?: readonly string[]
  readonly entitlements?: readonly string[]
  readonly collections?: Readonly<Record<string, readonly string[]>>
  readonly addresses?: readonly string[]
}

type Key = {
  readonly id: string
  readonly name: string
  readonly active: boolean
  readonly expiresAt: string | null
  readonly lastUsedAt: string | null
  readonly scope: Scope | null
}

const fields = ['id', 'name', 'active', 'expiresAt', 'lastUsedAt', 'scope']

/** Administrators are shown those of everybody, unless they say whose. */
function keysQuery({ id }: User): Query<readonly Key[]> {
  const query = { fields, filter: { userId: { _eq: id } }, sort: [{ createdAt: 'desc' }], limit: 0 }
  return {
    queryKey: ['keys', id],
    queryFn: async () => (await system.apiKeys.list(query).orThrow()) as unknown as readonly Key[],
  }
}

export function Keys({ user }: { readonly user: User }) {
  const texts = t.value.account
  const { data, error, refetch } = useQuery(keysQuery(user))
  const [isMaking, setMaking] = useState(false)
  const [gone, setGone] = useState<Key>()
  const changed = () => void queries.invalidateQueries({ queryKey: ['keys'] })
  const turn = async ({ id, active }: Key) => {
    const answer = await system.apiKeys.update(id, { active: !active })
    if (!answer.ok) showToast(faultOf(answer), 'danger')
    changed()
  }
  const remove = async ({ id }: Key) => {
    const answer = await system.apiKeys.delete(id)
    if (!answer.ok) showToast(faultOf(answer), 'danger')
    setGone(undefined)
    changed()
  }
  return (
    <Section
      title={texts.keys}
      text={texts.keysText}
      action={<Button onClick={() => setMaking(true)}>{texts.newKey}</Button>}
    >
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={3} />
      {data?.length === 0 && <p class={page.quiet}>{texts.noKeys}</p>}
      {data && data.length > 0 && (
        <Table
          label={texts.keys}
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            { title: texts.keyName, cell: ({ name }) => name },
            { title: texts.keyScope, cell: ({ scope }) => scopeText(scope) },
            {
              title: texts.expires,
              cell: ({ expiresAt }) => (expiresAt === null ? texts.never : formatTime(expiresAt)),
            },
            {
              title: texts.lastUsed,
              cell: ({ lastUsedAt }) => (lastUsedAt === null ? texts.neverUsed : formatTime(lastUsedAt)),
            },
            {
              title: texts.actions,
              cell: (key) => (
                <span class={styles.actions}>
                  <Button aria-label={texts.turnOf(key.active, key.name)} onClick={() => void turn(key)}>
                    {key.active ? texts.switchOff : texts.switchOn}
                  </Button>
                  <Button aria-label={texts.deleteOf(key.name)} onClick={() => setGone(key)}>
                    {texts.delete}
                  </Button>
                </span>
              ),
            },
          ]}
        />
      )}
      {isMaking && (
        <NewKey
          onMade={changed}
          onClose={() => {
            setMaking(false)
          }}
        />
      )}
      {gone && (
        <Dialog title={texts.deleteOf(gone.name)} onClose={() => setGone(undefined)}>
          <p>{texts.deleteText}</p>
          <DialogActions>
            <Button onClick={() => setGone(undefined)}>{t.value.common.cancel}</Button>
            <Button look="danger" onClick={() => void remove(gone)}>
              {texts.delete}
            </Button>
          </DialogActions>
        </Dialog>
      )}
    </Section>
  )
}

function scopeText(scope: Scope | null): string {
  const texts = t.value.account
  const { workspaces, entitlements, collections, addresses } = scope ?? {}
  const isLimited = entitlements !== undefined || collections !== undefined
  return [
    workspaces === undefined ? texts.allWorkspaces : workspaces.join(', '),
    isLimited ? texts.someRights : texts.allRights,
    ...(addresses ?? []),
  ].join(' · ')
}
