/** Which part of one's rights in a workspace a key has: actions by collection, and rights in the workspace. */
import { useState } from 'preact/hooks'
import { FILES } from '../../data/files.ts'
import { useQuery } from '../../data/queries.ts'
import { accessQuery, isSystemName, readableQuery, titleIn } from '../../data/workspaces.ts'
import { accessTexts } from '../../messages/access.ts'
import { accountTexts } from '../../messages/account.ts'
import { compareNames, t } from '../../messages/messages.ts'
import { Field } from '../../ui/field.tsx'
import { Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Choices } from '../access/choices.tsx'
import { type Action, actions, type Content, grantOf } from '../access/content.ts'
import { membersQuery, policiesQuery, rolesQuery } from '../access/data.ts'
import { useEntitled } from '../sources/rights.tsx'
import styles from './account.module.css'

export type SomeRights = {
  readonly entitlements: readonly string[]
  /** Actions by name. */
  readonly collections: Readonly<Record<string, readonly Action[]>>
}

export const noRights: SomeRights = { entitlements: [], collections: {} }

export function isNothing({ entitlements, collections }: SomeRights): boolean {
  return entitlements.length === 0 && Object.keys(collections).length === 0
}

/** More than so many can be searched. */
const MANY = 8

type ScopeProps = {
  readonly workspace: string
  /** Whose key it is. */
  readonly userId: string
  readonly rights: SomeRights
  readonly onRights: (rights: SomeRights) => void
}

/** The policies of an account; undefined where they are not shown, or limit nothing. */
function usePoliciesOf(workspace: string, userId: string): readonly Content[] | undefined {
  const mayRead = useEntitled(workspace, 'workspaceMembers:read')
  const { data: members } = useQuery({ ...membersQuery(workspace), enabled: mayRead })
  const { data: roles } = useQuery({ ...rolesQuery(workspace), enabled: mayRead })
  const { data: policies } = useQuery({ ...policiesQuery(workspace), enabled: mayRead })
  const member = members?.find((one) => one.userId === userId)
  if (member === undefined || roles === undefined || policies === undefined) return undefined
  const own = roles.filter(({ id, kind }) => kind === 'public' || member.roles.includes(id))
  if (own.some(({ kind }) => kind === 'administrator')) return undefined
  return policies.filter(({ id }) => own.some((role) => role.policies.includes(id))).map(({ content }) => content)
}

export function Scope({ workspace, userId, rights, onRights }: ScopeProps) {
  const texts = accessTexts.value
  const { data: access, error, refetch } = useQuery(accessQuery(workspace))
  const policies = usePoliciesOf(workspace, userId)
  const { data: readable = [] } = useQuery(readableQuery(workspace))
  const [wanted, setWanted] = useState('')
  if (access === undefined) {
    return <Pending data={access} error={error} onRetry={() => void refetch()} lines={4} />
  }
  // As policies have them: what the service keeps for its own screens is of no use to a program.
  const may = (name: string, action: Action) =>
    (access.collections[name]?.[action] ?? 'none') !== 'none' &&
    policies?.some((content) => grantOf(content, name, action) !== undefined) !== false
  const entitlements = access.entitlements.filter(
    (one) => policies?.some((content) => content.entitlements?.includes(one)) !== false,
  )
  const all = Object.keys(access.collections)
    .filter((name) => (!isSystemName(name) || name === FILES) && actions.some((action) => may(name, action)))
    .map((name) => ({ name, title: name === FILES ? t.value.files.title : titleIn(readable, name) }))
    .toSorted((one, other) => compareNames(one.title, other.title))
  const found = all.filter(({ name, title }) => `${title} ${name}`.toLowerCase().includes(wanted.trim().toLowerCase()))
  const turn = (name: string, action: Action, isOn: boolean) => {
    const { [name]: before = [], ...others } = rights.collections
    const after = isOn ? [...before, action] : before.filter((one) => one !== action)
    onRights({ ...rights, collections: after.length === 0 ? others : { ...others, [name]: after } })
  }
  return (
    <>
      {all.length > MANY && <Field label={t.value.workspace.filter} type="search" value={wanted} onValue={setWanted} />}
      <div class={styles.scope}>
        <Table
          label={t.value.workspace.collections}
          rows={found}
          keyOf={({ name }) => name}
          columns={[
            { title: t.value.workspace.collections, cell: ({ title }) => title },
            ...actions.map((action) => ({
              title: texts.does[action],
              cell: ({ name, title }: (typeof found)[number]) =>
                may(name, action) ? (
                  <input
                    type="checkbox"
                    aria-label={texts.actionOn(texts.does[action], title)}
                    checked={rights.collections[name]?.includes(action) === true}
                    onChange={(event) => turn(name, action, event.currentTarget.checked)}
                  />
                ) : (
                  <span role="img" aria-label={accountTexts.value.mayNot} title={accountTexts.value.mayNot}>
                    –
                  </span>
                ),
            })),
          ]}
        />
      </div>
      {entitlements.length > 0 && (
        <Choices
          label={texts.entitlements}
          options={entitlements.map((one) => [one, texts.entitlement[one as keyof typeof texts.entitlement] ?? one])}
          chosen={rights.entitlements}
          onChosen={(chosen) => onRights({ ...rights, entitlements: chosen })}
        />
      )}
    </>
  )
}
