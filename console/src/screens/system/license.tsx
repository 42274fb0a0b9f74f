/** The license: its state, what needs to be known of it, and what is used of what it allows. */
import type { LicenseReport } from 'governed-data-client/system'
import { useQuery } from '../../data/queries.ts'
import type { Info, User } from '../../data/session.ts'
import { formatNumber, t } from '../../messages/messages.ts'
import { systemTexts } from '../../messages/system.ts'
import { Notice, Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { Section } from '../account/section.tsx'
import { LicenseState, licenseWarnings } from '../license.tsx'
import page from '../page.module.css'
import { assistantUsageQuery, licenseQuery, requestOf } from './data.ts'
import { SystemPage } from './page.tsx'
import styles from './system.module.css'

type LicenseProps = { readonly user: User; readonly info: Info }

export default function License({ user, info }: LicenseProps) {
  return (
    <SystemPage at="license" user={user} request={requestOf('license', 'license')}>
      <Shown info={info} />
    </SystemPage>
  )
}

function Shown({ info }: { readonly info: Info }) {
  const texts = systemTexts.value
  const { data, error, refetch } = useQuery(licenseQuery(info.license?.lastValidatedAt))
  const reachable = info.license?.reachable
  return (
    <>
      {licenseWarnings(info, true).map((text) => (
        <Notice key={text} look="warning">
          {text}
        </Notice>
      ))}
      {info.license && <LicenseState license={info.license} />}
      <p class={page.quiet}>
        {reachable === undefined || reachable === null ? texts.noContact : texts.contact(reachable)}
      </p>
      <Section title={texts.usage} text={texts.usageText}>
        <Pending data={data} error={error} onRetry={() => void refetch()} lines={5} />
        {data && <Usage report={data} />}
      </Section>
      <OfAssistant />
    </>
  )
}

/** Nothing where nobody used one. */
function OfAssistant() {
  const texts = systemTexts.value
  const { data = [] } = useQuery(assistantUsageQuery())
  if (data.length === 0) return null
  return (
    <Section title={texts.assistantUsage} text={texts.assistantUsageText}>
      <Table
        label={texts.assistantUsage}
        rows={data}
        keyOf={({ workspace }) => workspace}
        columns={[
          { title: texts.workspace, cell: ({ workspace }) => <bdi>{workspace}</bdi> },
          { title: texts.questions, cell: ({ requests }) => formatNumber(requests) },
          { title: texts.tokens, cell: ({ tokens }) => formatNumber(tokens) },
          { title: texts.usersOfAssistant, cell: ({ users }) => formatNumber(users) },
        ]}
      />
    </Section>
  )
}

type Row = {
  readonly name: string
  readonly usage: number | boolean
  readonly limit: number | boolean | null
  readonly kind: 'hard' | 'soft'
}

function Usage({ report }: { readonly report: LicenseReport }) {
  const texts = systemTexts.value
  const rows = Object.entries(report.entitlements).map(
    ([name, limit]): Row => ({ name, usage: report.usage[name] ?? 0, ...limit }),
  )
  return (
    <Table
      label={texts.usage}
      rows={rows}
      keyOf={({ name }) => name}
      columns={[
        {
          title: texts.entitlement,
          cell: ({ name }) => <span class={styles.what}>{t.value.license.entitlements[name] ?? name}</span>,
        },
        { title: texts.used, cell: (row) => <Used {...row} /> },
        { title: texts.status, cell: (row) => texts.levels[levelOf(row)] },
        {
          title: texts.limit,
          cell: ({ kind, limit }) => (limit === null || limit === true ? '' : texts.limits[kind]),
        },
      ]}
    />
  )
}

/** Of what is counted, and of what may be used or not. */
function levelOf({ usage, limit }: Row) {
  if (limit === null) return 'unlimited'
  if (limit === true) return 'included'
  if (limit === false) return 'refused'
  const [used, most] = [Number(usage), limit]
  if (used > most) return 'above'
  return used === most && most > 0 ? 'full' : 'within'
}

function Used(row: Row) {
  const texts = systemTexts.value
  const { usage, limit } = row
  if (typeof usage === 'boolean') return <>{usage ? texts.flags.used : texts.flags.free}</>
  if (typeof limit !== 'number') return <>{formatNumber(usage)}</>
  const share = limit === 0 ? Math.min(usage, 1) : Math.min(usage / limit, 1)
  return (
    <div class={styles.usage}>
      <span>{texts.counted(formatNumber(usage), formatNumber(limit))}</span>
      <div class={styles.bar} data-level={levelOf(row)} aria-hidden="true">
        <span style={{ inlineSize: `${share * 100}%` }} />
      </div>
    </div>
  )
}
