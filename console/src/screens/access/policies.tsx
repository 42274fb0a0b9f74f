/** The policies of a workspace, each with how much it speaks of. */
import type { Policy } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { pathTo } from '../../app/router.ts'
import { useQuery } from '../../data/queries.ts'
import { accessTexts } from '../../messages/access.ts'
import { formatNumber, listed } from '../../messages/messages.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Empty, Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import page from '../page.module.css'
import styles from './access.module.css'
import { Confirm } from './confirm.tsx'
import { type Content, sizeOf } from './content.ts'
import { accessOf, peopleChanged, policiesQuery, rolesQuery } from './data.ts'

export function Policies({ workspace, mayEdit }: { readonly workspace: string; readonly mayEdit: boolean }) {
  const texts = accessTexts.value
  const { data, error, refetch } = useQuery(policiesQuery(workspace))
  const { data: roles = [] } = useQuery(rolesQuery(workspace))
  const [gone, setGone] = useState<Policy>()
  const pathOf = (id: string) => pathTo(workspace, 'access', 'policies', id)
  const sizes = (content: Content) => {
    const { collections, entitlements } = sizeOf(content)
    return texts.size(
      { shown: formatNumber(collections), count: collections },
      { shown: formatNumber(entitlements), count: entitlements },
    )
  }
  const action = (policy: Policy) => (
    <Button look="risky" aria-label={texts.deleteOf(policy.name)} onClick={() => setGone(policy)}>
      {texts.delete}
    </Button>
  )
  const rolesWith = ({ id }: Policy) => roles.filter(({ policies }) => policies.includes(id)).map(({ name }) => name)
  return (
    <div class={styles.part}>
      <div class={page.head}>
        <h2>{texts.parts.policies}</h2>
        {mayEdit && (
          <ButtonLink look="primary" href={pathOf('new')}>
            {texts.newPolicy}
          </ButtonLink>
        )}
      </div>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={4} />
      {data?.length === 0 && <Empty title={texts.noPolicies} text={texts.noPoliciesText} />}
      {data && data.length > 0 && (
        <Table
          label={texts.parts.policies}
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            {
              title: texts.name,
              cell: ({ id, name, description }) => (
                <span class={styles.person}>
                  <a href={pathOf(id)}>{name}</a>
                  {description && <span class={page.quiet}>{description}</span>}
                </span>
              ),
            },
            { title: texts.speaksOf, cell: ({ content }) => sizes(content as Content) },
            { title: texts.roles, cell: (policy) => listed(rolesWith(policy)) || texts.noRoles },
            ...(mayEdit ? [{ title: texts.actions, cell: action }] : []),
          ]}
        />
      )}
      {gone && (
        <Confirm
          workspace={workspace}
          planned={{ policies: { [gone.id]: null } }}
          title={texts.deleteOf(gone.name)}
          label={texts.delete}
          onConfirm={(how) => accessOf(workspace).policies.delete(gone.id, how)}
          onDone={() => {
            setGone(undefined)
            return peopleChanged(workspace)
          }}
          onClose={() => setGone(undefined)}
        >
          {texts.removePolicyText}
        </Confirm>
      )}
    </div>
  )
}
