/** Collections and what they refer to, drawn; below it the same as a list, for whoever does not see it. */
import { useMemo } from 'preact/hooks'
import { navigate, pathTo } from '../../app/router.ts'
import { compareNames, formatNumber } from '../../messages/messages.ts'
import { modelTexts } from '../../messages/model.ts'
import { Empty } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import page from '../page.module.css'
import type { Draft } from './data.ts'
import { edgesOf, HEIGHT, layoutOf, WIDTH } from './layout.ts'
import styles from './model.module.css'

/** So many are drawn; of more nobody sees anything. */
const DRAWN = 150
/** Letters that a box has room for. */
const LETTERS = 21

export default function Diagram({ workspace, model }: Draft) {
  const texts = modelTexts.value
  const { boxes, lines, width, height } = useMemo(() => layoutOf(model, DRAWN), [model])
  const nameOf = (id: string) => model.collections.find((one) => one.id === id)?.apiName ?? id
  const edges = useMemo(() => edgesOf(model).map((edge, at) => ({ ...edge, at })), [model])
  if (boxes.length === 0) return <Empty title={texts.none} text={texts.noneText} />
  const count = model.collections.filter(({ isSystem }) => !isSystem).length
  return (
    <div class={styles.part}>
      {count > DRAWN && <p class={page.quiet}>{texts.diagramText(formatNumber(DRAWN))}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys as well */}
      <section class={styles.diagram} dir="ltr" tabIndex={0} aria-label={texts.diagram}>
        <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`}>
          <title>{texts.diagram}</title>
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 8 4 0 8z" />
            </marker>
          </defs>
          {lines.map(({ from, to, name, path }) => (
            <path key={`${from} ${to} ${name}`} d={path} marker-end="url(#arrow)">
              <title>{name}</title>
            </path>
          ))}
          {boxes.map(({ id, name, about, x, y }) => (
            <a
              key={id}
              class={styles.box}
              href={pathTo(workspace, 'model', name)}
              onClick={(event) => {
                // The router knows links of HTML.
                event.preventDefault()
                navigate(pathTo(workspace, 'model', name))
              }}
            >
              <title>{name}</title>
              <rect x={x} y={y} width={WIDTH} height={HEIGHT} rx="6" />
              <text x={x + 12} y={y + 20}>
                {name.length > LETTERS ? `${name.slice(0, LETTERS - 1)}…` : name}
              </text>
              <text class={styles.small} x={x + 12} y={y + 37}>
                {texts.fieldCount(formatNumber(about), about)}
              </text>
            </a>
          ))}
        </svg>
      </section>
      <h2>{texts.relationsList}</h2>
      {edges.length === 0 ? (
        <p class={page.quiet}>{texts.noRelations}</p>
      ) : (
        <Table
          label={texts.relationsList}
          rows={edges.toSorted((one, other) => compareNames(nameOf(one.from), nameOf(other.from)))}
          keyOf={({ at }) => String(at)}
          columns={[
            {
              title: texts.collection,
              cell: ({ from }) => <a href={pathTo(workspace, 'model', nameOf(from))}>{nameOf(from)}</a>,
            },
            { title: texts.relation, cell: ({ name }) => name },
            { title: texts.to, cell: ({ to }) => nameOf(to) },
          ]}
        />
      )}
    </div>
  )
}
