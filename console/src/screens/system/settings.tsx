/** The configuration: which variables are set, with values that are no secret, and whether mail works. */
import { useState } from 'preact/hooks'
import { system } from '../../data/client.ts'
import { useQuery } from '../../data/queries.ts'
import { mailless, type User } from '../../data/session.ts'
import { formatNumber } from '../../messages/messages.ts'
import { systemTexts } from '../../messages/system.ts'
import { Button } from '../../ui/button.tsx'
import { Checkbox } from '../../ui/checkbox.tsx'
import { Field } from '../../ui/field.tsx'
import { Empty, Notice, Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { Section } from '../account/section.tsx'
import page from '../page.module.css'
import { faultOf, useSubmission } from '../submission.tsx'
import { requestOf, settingsQuery } from './data.ts'
import { SystemPage } from './page.tsx'
import styles from './system.module.css'

export default function Settings({ user }: { readonly user: User }) {
  return (
    <SystemPage at="settings" user={user} request={requestOf('settings', 'settings')}>
      <Mail email={user.email} />
      <Variables />
    </SystemPage>
  )
}

function Mail({ email }: { readonly email: string }) {
  const texts = systemTexts.value
  const way = mailless.value ?? 'sent'
  const { fault, isBusy, submit } = useSubmission(async () => {
    const answer = await system.testMail()
    if (!answer.ok) return faultOf(answer, { 409: texts.mailUnset, 503: texts.mailRefused })
    showToast(way === 'log' ? texts.mailLogged : texts.mailSent(email))
    return undefined
  })
  return (
    <Section title={texts.mail} text={texts.mailTexts[way]}>
      {fault && <Notice look="danger">{fault}</Notice>}
      {way !== 'none' && (
        <div class={page.row}>
          <Button isBusy={isBusy} onClick={(event) => void submit(event)}>
            {texts.testMail}
          </Button>
        </div>
      )}
    </Section>
  )
}

function Variables() {
  const texts = systemTexts.value
  const { data, error, refetch } = useQuery(settingsQuery())
  const [wanted, setWanted] = useState('')
  const [isOnlySet, setOnlySet] = useState(false)
  const found = data?.filter(
    ({ name, isSet }) => name.toLowerCase().includes(wanted.trim().toLowerCase()) && (isSet || !isOnlySet),
  )
  return (
    <Section title={texts.variables}>
      <div class={styles.search}>
        <Field label={texts.findVariable} type="search" dir="ltr" value={wanted} onValue={setWanted} />
        <Checkbox label={texts.onlySet} isChecked={isOnlySet} onCheck={setOnlySet} />
        <a class={styles.meanings} href="/-/docs/configuration">
          {texts.meanings}
        </a>
      </div>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={8} />
      {found?.length === 0 && <Empty title={texts.nothingFound} />}
      {found && found.length > 0 && (
        <>
          <p class={page.quiet} role="status">
            {texts.counts(formatNumber(found.length), found.length)}
          </p>
          <Table
            label={texts.variables}
            rows={found}
            keyOf={({ name }) => name}
            columns={[
              { title: texts.variable, cell: ({ name }) => <code dir="ltr">{name}</code> },
              {
                title: texts.value,
                cell: ({ isSet, value }) =>
                  value === null ? (
                    <span class={page.quiet}>{isSet ? texts.hidden : texts.unset}</span>
                  ) : (
                    <code dir="ltr">{value}</code>
                  ),
              },
              {
                title: texts.source,
                cell: ({ isSet, value }) => (isSet ? texts.sources.set : value !== null && texts.sources.preset),
              },
            ]}
          />
        </>
      )}
    </Section>
  )
}
