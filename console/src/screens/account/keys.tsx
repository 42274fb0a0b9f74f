/** The API keys of an account: made, switched off and on, deleted. */
import type { ApiKey, KeyScope } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { system } from '../../data/client.ts'
import { type Query, queries, useQuery } from '../../data/queries.ts'
import { accessTexts } from '../../messages/access.ts'
import { accountTexts } from '../../messages/account.ts'
import { formatTime, listed } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import page from '../page.module.css'
import { faultOf } from '../submission.tsx'
import { Sure } from '../system/sure.tsx'
import styles from './account.module.css'
import { NewKey } from './new-key.tsx'
import { Section } from './section.tsx'

/** Administrators are shown those of everybody, unless they say whose. */
export function keysQuery(userId: string): Query<readonly ApiKey[]> {
  const query = { filter: { userId: { _eq: userId } }, sort: [{ createdAt: 'desc' }], limit: 0 }
  return { queryKey: ['keys', userId], queryFn: () => system.apiKeys.list(query).orThrow() }
}

type KeysProps = {
  /** Of a person or of a service account. */
  readonly userId: string
  readonly text: string
  readonly mayMake?: boolean
}

export function Keys({ userId, text, mayMake = true }: KeysProps) {
  const texts = accountTexts.value
  const { data, error, refetch } = useQuery(keysQuery(userId))
  const [isMaking, setMaking] = useState(false)
  const [gone, setGone] = useState<ApiKey>()
  const changed = () => void queries.invalidateQueries({ queryKey: ['keys'] })
  const turn = async ({ id, active }: ApiKey) => {
    const answer = await system.apiKeys.update(id, { active: !active })
    if (!answer.ok) showToast(faultOf(answer), 'danger')
    changed()
  }
  return (
    <Section
      title={texts.keys}
      text={text}
      action={mayMake && <Button onClick={() => setMaking(true)}>{texts.newKey}</Button>}
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
                  <Button look="risky" aria-label={texts.deleteOf(key.name)} onClick={() => setGone(key)}>
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
          userId={userId}
          onMade={changed}
          onClose={() => {
            setMaking(false)
          }}
        />
      )}
      {gone && (
        <Sure
          title={texts.deleteOf(gone.name)}
          label={texts.delete}
          onConfirm={() => system.apiKeys.delete(gone.id)}
          onDone={() => {
            setGone(undefined)
            changed()
          }}
          onClose={() => setGone(undefined)}
        >
          <p>{texts.deleteText}</p>
        </Sure>
      )}
    </Section>
  )
}

/** So many collections are named. */
const NAMED = 3

function scopeText(scope: KeyScope | null): string {
  const texts = accountTexts.value
  const { does } = accessTexts.value
  const { workspaces, entitlements, collections, addresses } = scope ?? {}
  const isLimited = entitlements !== undefined || collections !== undefined
  const named = Object.entries(collections ?? {})
  const rights = named.map(
    ([name, actions]) => `${name}: ${listed(actions.map((one) => does[one as keyof typeof does].toLowerCase()))}`,
  )
  const some = named.length > 0 && named.length <= NAMED ? rights.join('; ') : texts.someRights
  return [
    workspaces === undefined ? texts.allWorkspaces : listed(workspaces),
    isLimited ? some : texts.allRights,
    ...(addresses ?? []),
  ].join(' · ')
}
