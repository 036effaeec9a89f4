import { type ReactNode, useEffect, useRef, useState } from 'react'
import { flushSync } from 'react-dom'

/** Rows of a block: few enough to be drawn in one frame. */
const ROWS = 50
/** A block is drawn this far before it comes into view. */
const MARGIN = '900px'

interface BlocksParts<Row> {
  rows: readonly Row[]
  /** The element of a block, which takes rows as children. */
  as: 'tbody' | 'ol'
  /** Height of a row in pixels, as long as its block has not been drawn. */
  rowHeight: number
  children: (row: Row, index: number) => ReactNode
}

/**
 * A long list in blocks. Those far outside the view are empty and keep their height. A row that
 * comes above others leaves their elements as they are, with the focus and what is open in them.
 */
export function Blocks<Row>({ rows, as, rowHeight, children }: BlocksParts<Row>) {
  const starts = Array.from({ length: Math.ceil(rows.length / ROWS) }, (_, index) => index * ROWS)
  return starts.map((start) => {
    const own = rows.slice(start, start + ROWS)
    return (
      <Block key={start} as={as} rows={own.length} rowHeight={rowHeight} isSeen={start === 0}>
        {() => own.map((row, index) => children(row, start + index))}
      </Block>
    )
  })
}

interface BlockParts {
  as: 'tbody' | 'ol'
  rows: number
  rowHeight: number
  isSeen: boolean
  children: () => ReactNode
}

function Block({ as: Tag, rows, rowHeight, isSeen: isSeenAtFirst, children }: BlockParts) {
  const [{ isSeen, height }, setState] = useState({ isSeen: isSeenAtFirst, height: rowHeight })
  const element = useRef<HTMLElement>(null)
  useEffect(() => {
    const own = element.current
    if (!own) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        // A block with the focus stays, or the focus would be lost.
        if (!entry || (!entry.isIntersecting && own.contains(document.activeElement))) return
        const drawn = entry.boundingClientRect.height / own.children.length
        setState((before) => ({
          isSeen: entry.isIntersecting,
          height: before.isSeen && !entry.isIntersecting ? drawn : before.height,
        }))
      },
      { rootMargin: MARGIN },
    )
    observer.observe(own)
    // Paper has no view, so it gets every row.
    const show = () => flushSync(() => setState((before) => ({ ...before, isSeen: true })))
    addEventListener('beforeprint', show)
    return () => {
      observer.disconnect()
      removeEventListener('beforeprint', show)
    }
  }, [])
  const setElement = (found: HTMLElement | null) => {
    element.current = found
  }
  const style = { height: height * rows }
  return (
    <Tag ref={setElement}>
      {isSeen ? (
        children()
      ) : Tag === 'tbody' ? (
        <tr>
          <td className="gap" style={style} />
        </tr>
      ) : (
        <li style={style} />
      )}
    </Tag>
  )
}
