/** Why somebody may do something, or may not: what each of their policies says. The question stands in the address. */
import type { AccessQuestion, ExplainedAccess, NewAccessTest } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { address, navigate, pathTo } from '../../app/router.ts'
import { FILES } from '../../data/files.ts'
import { useQuery } from '../../data/queries.ts'
import { readableQuery } from '../../data/workspaces.ts'
import { accessTexts } from '../../messages/access.ts'
import { t } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Field } from '../../ui/field.tsx'
import { Fault, Notice, Skeleton } from '../../ui/notice.tsx'
import { Select } from '../../ui/select.tsx'
import { Table } from '../../ui/table.tsx'
import { filterColumns } from '../grid/columns.ts'
import { filterWords } from '../grid/filter.tsx'
import { type CollectionModel, modelQuery } from '../grid/model.ts'
import page from '../page.module.css'
import styles from './access.module.css'
import { type Question, whyPath } from './asking.tsx'
import { actions } from './content.ts'
import { accessOf, membersQuery, rolesQuery, useInsight } from './data.ts'
import { KeepTest, useWho } from './tests.tsx'

function questionIn(parameters: URLSearchParams): Question {
  const text = (name: string) => parameters.get(name) ?? ''
  const action = actions.find((one) => one === text('action')) ?? 'read'
  return { who: text('who'), collection: text('collection'), action, field: text('field'), key: text('key') }
}

export function Why({ workspace }: { readonly workspace: string }) {
  const question = questionIn(address.value.searchParams)
  return (
    <>
      <Form key={JSON.stringify(question)} workspace={workspace} question={question} />
      {question.who !== '' && question.collection !== '' && <Explained workspace={workspace} question={question} />}
    </>
  )
}

type WhyProps = { readonly workspace: string; readonly question: Question }

function Form({ workspace, question }: WhyProps) {
  const texts = accessTexts.value
  const { data: members = [] } = useQuery(membersQuery(workspace))
  const { data: roles = [] } = useQuery(rolesQuery(workspace))
  const { data: collections = [] } = useQuery(readableQuery(workspace))
  const [next, setNext] = useState(question)
  const collection = next.collection || collections[0]?.name || ''
  const { data: model } = useQuery({ ...modelQuery(workspace, collection), enabled: collection !== '' })
  const who = next.who || 'anonymous'
  const set = (change: Partial<Question>) => setNext({ ...next, ...change })
  const fields = [...(model?.fields ?? []), ...(model?.toOne ?? []), ...(model?.toMany ?? [])]
  const people = [
    ['anonymous', texts.anonymous] as const,
    ...members.map(({ userId, email, fullName }) => [`user:${userId}`, fullName ?? email] as const),
    ...roles.map(({ id, name }) => [`role:${id}`, texts.theRole(name)] as const),
  ]
  return (
    <form
      class={styles.question}
      aria-label={texts.parts.why}
      onSubmit={(event) => {
        event.preventDefault()
        navigate(whyPath(workspace, { ...next, who, collection }))
      }}
    >
      <Select label={texts.who} value={who} onValue={(chosen) => set({ who: chosen })} options={people} />
      <Select
        label={texts.action}
        value={next.action}
        onValue={(action) =>
          set({ action, ...(action === 'create' && { key: '' }), ...(action === 'delete' && { field: '' }) })
        }
        options={actions.map((action) => [action, texts.does[action]])}
      />
      <Select
        label={texts.collection}
        value={collection}
        onValue={(chosen) => set({ collection: chosen, field: '', key: '' })}
        options={[...collections.map(({ name, title }) => [name, title] as const), [FILES, t.value.files.title]]}
      />
      {next.action !== 'delete' && (
        <Select
          label={t.value.grid.field}
          value={next.field}
          onValue={(field) => set({ field })}
          options={[['', texts.anyField], ...fields.map(({ name, title }) => [name, title] as const)]}
        />
      )}
      {next.action !== 'create' && (
        <Field
          label={texts.key}
          hint={texts.keyHint(model?.key.join(', ') ?? '')}
          isOptional
          dir="ltr"
          value={next.key}
          onValue={(key) => set({ key })}
        />
      )}
      <div class={page.row}>
        <Button type="submit" look="primary">
          {texts.ask}
        </Button>
      </div>
    </form>
  )
}

function Explained({ workspace, question }: WhyProps) {
  const texts = accessTexts.value
  const { data: model } = useQuery(modelQuery(workspace, question.collection))
  const mayKeep = useInsight(workspace) === true
  const [isKeeping, setKeeping] = useState(false)
  const whoOf = useWho(workspace)
  const [keyField] = model?.key ?? []
  const keyType = model?.key.length === 1 ? model.fields.find(({ name }) => name === keyField)?.type : undefined
  const { data, error, refetch } = useQuery({
    queryKey: ['people', workspace, 'why', question, keyType],
    queryFn: () => accessOf(workspace).explain(sentOf(question, keyType)).orThrow(),
    enabled: question.key === '' || model !== undefined,
  })
  if (error && !data) return <Fault error={error} onRetry={() => void refetch()} />
  if (!data) return <Skeleton lines={4} />
  return (
    <div class={styles.part}>
      <Notice
        look={data.allowed ? 'good' : 'warning'}
        action={mayKeep && data.allowed !== null && <Button onClick={() => setKeeping(true)}>{texts.keepTest}</Button>}
      >
        {answerOf(question, data)}
      </Notice>
      {isKeeping && data.allowed !== null && (
        <KeepTest
          workspace={workspace}
          who={whoOf(question.who)}
          test={testOf(question, keyType, data.allowed)}
          onClose={() => setKeeping(false)}
        />
      )}
      {data.policies.length === 0 ? (
        <p class={page.quiet}>{data.allowed ? texts.byAdministrator : texts.withoutPolicies}</p>
      ) : (
        <Table
          label={texts.parts.policies}
          rows={data.policies}
          keyOf={({ id }) => id}
          wraps
          columns={[
            {
              title: texts.policy,
              cell: ({ id, name }) => <a href={pathTo(workspace, 'access', 'policies', id)}>{name}</a>,
            },
            { title: texts.says, cell: (policy) => sayingOf(policy) },
            {
              title: texts.condition,
              cell: ({ condition }) => condition && <ConditionText model={model} condition={condition} />,
            },
          ]}
        />
      )}
    </div>
  )
}

type ConditionProps = { readonly model: CollectionModel | null | undefined; readonly condition: object }

/** In words where the filter of a grid has them, else as the policy has it. */
function ConditionText({ model, condition }: ConditionProps) {
  const words = model && filterWords(filterColumns(model), condition)
  if (!words) return <code dir="ltr">{JSON.stringify(condition)}</code>
  return words.map((one) => (
    <div key={one} dir="auto">
      {one}
    </div>
  ))
}

/** Without an item a role may do what its holders may do with some, whichever these are. */
function answerOf({ who, key }: Question, { allowed, policies }: ExplainedAccess): string {
  const texts = accessTexts.value
  if (allowed === null) return texts.depends
  if (!allowed) return texts.notAllowed
  const speaking = policies.filter(({ allows }) => allows)
  const isByUser = speaking.every(({ condition }) => JSON.stringify(condition ?? {}).includes('"$CURRENT_USER"'))
  const isOfRole = who.startsWith('role:') && key === '' && speaking.length > 0
  return isOfRole && isByUser ? texts.allowedByUser : texts.allowed
}

function sayingOf({ allows, reason }: ExplainedAccess['policies'][number]): string {
  const texts = accessTexts.value
  return allows ? texts.allows : texts.reasons[reason ?? 'action']
}

/** As the API takes it. A key of digits is a number where the key is one. */
function sentOf({ who, collection, action, field, key }: Question, keyType: string | undefined): AccessQuestion {
  const [kind, id = ''] = who.split(':')
  const principal =
    kind === 'user' ? { userId: id } : kind === 'role' ? { roleIds: [id] } : ({ anonymous: true } as const)
  return {
    ...principal,
    collection,
    action,
    ...(field !== '' && { field }),
    ...(key !== '' && { key: keyOf(key, keyType) }),
  }
}

/** The same question, with the answer that is expected of it. */
function testOf(question: Question, keyType: string | undefined, allowed: boolean): Omit<NewAccessTest, 'name'> {
  const { collection, action, key, field } = sentOf(question, keyType)
  return {
    as: question.who,
    collection,
    action,
    ...(key !== undefined && { key }),
    ...(field !== undefined && { field }),
    expect: { allowed },
  }
}

function keyOf(text: string, type: string | undefined): string | number | object {
  if (/^(u?int(8|16|32)|float)/.test(type ?? '') && Number.isFinite(Number(text))) return Number(text)
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : text
  } catch {
    return text
  }
}
