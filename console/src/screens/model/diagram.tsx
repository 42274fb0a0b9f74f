/** Collections and what they refer to, drawn; below it the same as a list, for whoever does not see it. */
import { useMemo } from 'preact/hooks'
import { navigate, pathTo } from '../../app/router.ts'
import { compareNames, formatNumber, t } from '../../messages/messages.ts'
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
const PADDING = 12
/** Pixels of one `rem`, where nobody has larger letters. */
const USUAL = 16

/** Grows with the letters. */
function sizeOf(width: number, height: number) {
  return { inlineSize: `${width / USUAL}rem`, blockSize: `${height / USUAL}rem` }
}

/** In its own direction, whatever stands around it. */
const apart = (name: string) => `\u2068${name}\u2069`

export default function Diagram({ workspace, model }: Draft) {
  const texts = modelTexts.value
  const { boxes, lines, width, height } = useMemo(() => layoutOf(model, DRAWN), [model])
  const nameOf = (id: string) => model.collections.find((one) => one.id === id)?.apiName ?? id
  const edges = useMemo(() => edgesOf(model).map((edge, at) => ({ ...edge, at })), [model])
  const isRightToLeft = t.value.direction === 'rtl'
  const startOf = (x: number) => (isRightToLeft ? width - x - PADDING : x + PADDING)
  if (boxes.length === 0) return <Empty title={texts.none} text={texts.noneText} />
  const count = model.collections.filter(({ isSystem }) => !isSystem).length
  return (
    <div class={styles.part}>
      {count > DRAWN && <p class={page.quiet}>{texts.diagramText(formatNumber(DRAWN))}</p>}
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is scrolled by keys as well */}
      <section class={styles.diagram} tabIndex={0} aria-label={texts.diagram}>
        <svg style={sizeOf(width, height)} viewBox={`0 0 ${width} ${height}`}>
          <title>{texts.diagram}</title>
          <defs>
            <marker id="arrow" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
              <path d="M0 0 8 4 0 8z" />
            </marker>
          </defs>
          <g transform={isRightToLeft ? `translate(${width}) scale(-1 1)` : undefined}>
            {lines.map(({ from, to, name, path }) => (
              <path key={`${from} ${to} ${name}`} d={path} marker-end="url(#arrow)">
                <title>{name}</title>
              </path>
            ))}
          </g>
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
              <rect x={isRightToLeft ? width - x - WIDTH : x} y={y} width={WIDTH} height={HEIGHT} rx="6" />
              <text x={startOf(x)} y={y + 20}>
                {apart(name.length > LETTERS ? `${name.slice(0, LETTERS - 1)}…` : name)}
              </text>
              <text class={styles.small} x={startOf(x)} y={y + 37}>
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
