/** Where one is signed in, and ending it there. */
import type { Session } from 'governed-data-client/system'
import { system } from '../../data/client.ts'
import { type Query, queries, useQuery } from '../../data/queries.ts'
import { accountTexts } from '../../messages/account.ts'
import { formatTime, listed } from '../../messages/messages.ts'
import { Button } from '../../ui/button.tsx'
import { Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { showToast } from '../../ui/toasts.tsx'
import { faultOf } from '../submission.tsx'
import { Section } from './section.tsx'

function sessionsQuery(): Query<readonly Session[]> {
  return { queryKey: ['sessions'], queryFn: () => system.me.sessions().orThrow() }
}

export function Sessions() {
  const texts = accountTexts.value
  const { data, error, refetch } = useQuery(sessionsQuery())
  const end = async (id?: string) => {
    const answer = await system.me.endSessions(id)
    if (answer.ok) showToast(id === undefined ? texts.othersEnded : texts.sessionEnded)
    else showToast(faultOf(answer), 'danger')
    void queries.invalidateQueries({ queryKey: ['sessions'] })
  }
  const hasOthers = data?.some(({ current }) => !current) === true
  return (
    <Section
      title={texts.sessions}
      text={texts.sessionsText}
      action={hasOthers && <Button onClick={() => void end()}>{texts.endOthers}</Button>}
    >
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={3} />
      {data && (
        <Table
          label={texts.sessions}
          rows={data}
          keyOf={({ id }) => id}
          columns={[
            { title: texts.device, cell: (session) => nameOf(session) },
            { title: texts.address, cell: ({ ip }) => ip ?? '' },
            { title: texts.since, cell: ({ createdAt }) => formatTime(createdAt) },
            { title: texts.lastUsed, cell: ({ lastUsedAt }) => formatTime(lastUsedAt) },
            {
              title: texts.actions,
              cell: (session) =>
                session.current ? (
                  texts.thisOne
                ) : (
                  <Button aria-label={texts.endOf(nameOf(session))} onClick={() => void end(session.id)}>
                    {texts.end}
                  </Button>
                ),
            },
          ]}
        />
      )}
    </Section>
  )
}

/** By what each says of itself that those after it do not. */
const browsers = [
  ['Edg/', 'Edge'],
  ['OPR/', 'Opera'],
  ['Firefox/', 'Firefox'],
  ['Chrome/', 'Chrome'],
  ['Safari/', 'Safari'],
] as const

/** What a device called itself, or what its browser says of both, such as `Chrome, Linux`. */
function nameOf({ name, userAgent }: Session): string {
  const [, browser] = browsers.find(([mark]) => userAgent?.includes(mark)) ?? []
  const [platform] = /Windows|Android|iPhone|iPad|Mac OS X|Linux/.exec(userAgent ?? '') ?? []
  if (name !== null) return name
  if (browser === undefined) return (userAgent ?? accountTexts.value.unknownDevice).slice(0, 60)
  return listed([browser, platform].filter((one) => one !== undefined))
}
