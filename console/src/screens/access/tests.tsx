/** What is expected of rights, and whether it is so; a change by which it would not be any more is not made by accident. */
import type { AccessTest, NewAccessTest } from 'governed-data-client/system'
import { useState } from 'preact/hooks'
import { useQuery } from '../../data/queries.ts'
import { readableQuery, titleIn } from '../../data/workspaces.ts'
import { accessTexts } from '../../messages/access.ts'
import { formatNumber, listed, t } from '../../messages/messages.ts'
import { Button, ButtonLink } from '../../ui/button.tsx'
import { Dialog, DialogActions, FormActions } from '../../ui/dialog.tsx'
import { Field } from '../../ui/field.tsx'
import { Empty, Notice, Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import styles from './access.module.css'
import { whyPath } from './asking.tsx'
import { accessOf, effectQuery, membersQuery, peopleChanged, rolesQuery, testsQuery } from './data.ts'

export function Tests({ workspace }: { readonly workspace: string }) {
  const texts = accessTexts.value
  const { data, error, refetch } = useQuery(testsQuery(workspace))
  const judged = useQuery({ ...effectQuery(workspace, {}), enabled: data !== undefined && data.length > 0 })
  const { data: readable = [] } = useQuery(readableQuery(workspace))
  const whoOf = useWho(workspace)
  const [gone, setGone] = useState<AccessTest>()
  const resultOf = ({ id }: AccessTest) => {
    const passed = judged.data?.tests.find((one) => one.id === id)?.passed
    if (passed === undefined) return ''
    const result = passed === null ? 'unknown' : passed ? 'passed' : 'failed'
    return <span data-result={result}>{texts.results[result]}</span>
  }
  return (
    <div class={styles.part}>
      <div class={page.head}>
        <h2>{texts.parts.tests}</h2>
        <ButtonLink look="primary" href={whyPath(workspace, {})}>
          {texts.addTest}
        </ButtonLink>
      </div>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={4} />
      {judged.error && (
        <Pending data={undefined} error={judged.error} onRetry={() => void judged.refetch()} lines={1} />
      )}
      {data?.length === 0 && <Empty title={texts.noTests} text={texts.noTestsText} />}
      {data && data.length > 0 && (
        <Table
          label={texts.parts.tests}
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            {
              title: texts.name,
              cell: (test) => (
                <span class={styles.person}>
                  <strong>{test.name}</strong>
                  {resultOf(test)}
                </span>
              ),
            },
            { title: texts.who, cell: ({ as }) => whoOf(as) },
            {
              title: texts.action,
              cell: (test) => (
                <span class={styles.person}>
                  <span>{texts.actionOn(texts.does[test.action], titleIn(readable, test.collection))}</span>
                  <TestTarget {...test} />
                </span>
              ),
            },
            {
              title: texts.expects,
              cell: ({ expect: { allowed, count, fields } }) => (
                <span class={styles.person}>
                  <span>{texts.expected(allowed)}</span>
                  {count !== undefined && <span class={page.quiet}>{texts.testCount(formatNumber(count))}</span>}
                  {fields && <span class={page.quiet}>{listed(fields)}</span>}
                </span>
              ),
            },
            {
              title: texts.actions,
              cell: (test) => (
                <Button look="risky" aria-label={texts.deleteOf(test.name)} onClick={() => setGone(test)}>
                  {texts.delete}
                </Button>
              ),
            },
          ]}
        />
      )}
      {gone && <RemoveTest workspace={workspace} test={gone} onClose={() => setGone(undefined)} />}
    </div>
  )
}

/** Of which items it is, and of which field. */
function TestTarget({ key, field, filter }: Pick<AccessTest, 'key' | 'field' | 'filter'>) {
  const parts = [field, key !== undefined && JSON.stringify(key), filter && JSON.stringify(filter)].filter(Boolean)
  return parts.length === 0 ? null : <code dir="ltr">{parts.join(' · ')}</code>
}

type TestProps = { readonly workspace: string; readonly test: AccessTest; readonly onClose: () => void }

function RemoveTest({ workspace, test, onClose }: TestProps) {
  const texts = accessTexts.value
  const { fault, isBusy, submit } = useSubmission(async () => {
    const answer = await accessOf(workspace).tests.delete(test.id)
    if (!answer.ok && answer.status !== 404) return faultOf(answer)
    onClose()
    await peopleChanged(workspace)
    return undefined
  })
  return (
    <Dialog title={texts.deleteOf(test.name)} onClose={onClose}>
      {fault && <Notice look="danger">{fault}</Notice>}
      <p>{texts.removeTestText}</p>
      <DialogActions>
        <Button onClick={onClose}>{t.value.common.cancel}</Button>
        <Button look="danger" isBusy={isBusy} onClick={(event) => void submit(event)}>
          {texts.delete}
        </Button>
      </DialogActions>
    </Dialog>
  )
}

type KeepProps = {
  readonly workspace: string
  readonly who: string
  readonly test: Omit<NewAccessTest, 'name'>
  readonly onClose: () => void
}

/** Keeps the answer to a question as what is expected. */
export function KeepTest({ workspace, who, test, onClose }: KeepProps) {
  const texts = accessTexts.value
  const place = [test.collection, test.field].filter(Boolean).join('.')
  const [name, setName] = useState(() => {
    return texts.testName(who, `${texts.does[test.action]} ${place}`, test.expect.allowed).slice(0, 200)
  })
  const { fault, isBusy, submit } = useSubmission(async () => {
    const answer = await accessOf(workspace).tests.create({ ...test, name: name.trim() })
    if (!answer.ok) return faultOf(answer)
    showToast(texts.testKept)
    onClose()
    await peopleChanged(workspace)
    return undefined
  })
  return (
    <Dialog title={texts.keepTest} onClose={onClose}>
      <form class={page.stack} onSubmit={submit}>
        {fault && <Notice look="danger">{fault}</Notice>}
        <p>{texts.testText}</p>
        <Field label={texts.name} required autofocus maxLength={200} value={name} onValue={setName} />
        <FormActions label={texts.keepTest} isBusy={isBusy} onCancel={onClose} />
      </form>
    </Dialog>
  )
}

/** What people call whom a question or a test is of. */
export function useWho(workspace: string): (as: string) => string {
  const texts = accessTexts.value
  const { data: members = [] } = useQuery(membersQuery(workspace))
  const { data: roles = [] } = useQuery(rolesQuery(workspace))
  return (as) => {
    const [kind, id = ''] = as.split(':')
    if (kind === 'anonymous') return texts.anonymous
    if (kind === 'role') return texts.theRole(roles.find((role) => role.id === id)?.name ?? id)
    const member = members.find(({ userId }) => userId === id)
    return member?.fullName ?? member?.email ?? id
  }
}
