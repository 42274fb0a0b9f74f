/** What can be attached, what each reaches, and which extensions cannot be used and why. */
import { useQuery } from '../../data/queries.ts'
import { listed } from '../../messages/messages.ts'
import { sourceTexts } from '../../messages/sources.ts'
import { ButtonLink } from '../../ui/button.tsx'
import { Pending } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import page from '../page.module.css'
import { attachPath, type Connector, connectorsQuery } from './data.ts'
import { useEntitled } from './rights.tsx'
import styles from './sources.module.css'

export function Connectors({ workspace }: { readonly workspace: string }) {
  const texts = sourceTexts.value
  const { data, error, refetch } = useQuery(connectorsQuery(workspace))
  const mayAttach = useEntitled(workspace, 'dataSource:create', 'dataModel:edit')
  const broken = data?.meta?.broken ?? []
  return (
    <div class={styles.part}>
      <Pending data={data} error={error} onRetry={() => void refetch()} lines={6} />
      {data && (
        <Table
          wraps
          label={texts.parts.connectors}
          rows={data.data}
          keyOf={({ id }) => id}
          columns={[
            { title: texts.connector, cell: (connector) => <Named {...connector} /> },
            { title: texts.origin, cell: ({ origin }) => texts.origins[origin] },
            {
              title: texts.state,
              cell: ({ isAvailable, unavailableReason }) => (
                <span class={styles.mark} data-state={isAvailable ? 'works' : 'failing'}>
                  {isAvailable ? texts.available : unavailableReason}
                </span>
              ),
            },
            {
              title: texts.anyHost,
              cell: ({ permissions }) =>
                permissions.map(({ permission, reason }) => (
                  <span key={permission} class={styles.state}>
                    <code dir="ltr">{permission.replace(/^net:/, '')}</code>
                    <span class={page.quiet}>{reason}</span>
                  </span>
                )),
            },
            ...(mayAttach
              ? [
                  {
                    title: texts.actions,
                    cell: ({ id, name, isAvailable }: Connector) =>
                      isAvailable && (
                        <ButtonLink href={attachPath(workspace, id)} aria-label={texts.attachOf(name)}>
                          {texts.attachIt}
                        </ButtonLink>
                      ),
                  },
                ]
              : []),
          ]}
        />
      )}
      {broken.length > 0 && (
        <>
          <h2>{texts.broken}</h2>
          <p class={page.quiet}>{texts.brokenText}</p>
          <Table
            wraps
            label={texts.broken}
            rows={broken}
            keyOf={({ location, reason }) => `${location} ${reason}`}
            columns={[
              { title: texts.location, cell: ({ location }) => <code dir="ltr">{location}</code> },
              { title: texts.reason, cell: ({ reason }) => reason },
            ]}
          />
        </>
      )}
    </div>
  )
}

function Named({ name, presets }: Connector) {
  const others = presets.filter((preset) => preset.name !== name)
  return (
    <span class={styles.state}>
      <strong>{name}</strong>
      {others.length > 0 && (
        <span class={page.quiet}>
          {sourceTexts.value.presets} {listed(others.map((preset) => preset.name))}
        </span>
      )}
    </span>
  )
}
