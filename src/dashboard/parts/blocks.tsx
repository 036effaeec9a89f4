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
  keyOf: (row: Row) => string
  children: (row: Row, index: number) => ReactNode
}

/** A long list in blocks. Those far outside the view are empty and keep their height. */
export function Blocks<Row>({ rows, as, rowHeight, keyOf, children }: BlocksParts<Row>) {
  const starts = Array.from({ length: Math.ceil(rows.length / ROWS) }, (_, index) => index * ROWS)
  return starts.map((start) => {
    const own = rows.slice(start, start + ROWS)
    return (
      <Block key={own[0] ? keyOf(own[0]) : start} as={as} height={own.length * rowHeight} isSeen={start === 0}>
        {() => own.map((row, index) => children(row, start + index))}
      </Block>
    )
  })
}

interface BlockParts {
  as: 'tbody' | 'ol'
  height: number
  isSeen: boolean
  children: () => ReactNode
}

function Block({ as: Tag, height, isSeen: isSeenAtFirst, children }: BlockParts) {
  const [isSeen, setSeen] = useState(isSeenAtFirst)
  const element = useRef<HTMLElement>(null)
  const measured = useRef(height)
  useEffect(() => {
    const own = element.current
    if (!own) return
    const observer = new IntersectionObserver(
      ([entry]) => {
        // A block with the focus stays, or the focus would be lost.
        if (!entry || (!entry.isIntersecting && own.contains(document.activeElement))) return
        if (!entry.isIntersecting) measured.current = entry.boundingClientRect.height || measured.current
        setSeen(entry.isIntersecting)
      },
      { rootMargin: MARGIN },
    )
    observer.observe(own)
    // Paper has no view, so it gets every row.
    const show = () => flushSync(() => setSeen(true))
    addEventListener('beforeprint', show)
    return () => {
      observer.disconnect()
      removeEventListener('beforeprint', show)
    }
  }, [])
  const setElement = (found: HTMLElement | null) => {
    element.current = found
  }
  return (
    <Tag ref={setElement}>
      {isSeen ? (
        children()
      ) : Tag === 'tbody' ? (
        <tr>
          <td className="gap" style={{ height: measured.current }} />
        </tr>
      ) : (
        <li style={{ height: measured.current }} />
      )}
    </Tag>
  )
}
