import { Fragment, jsx as makeElement, jsxs as makeElements } from 'react/jsx-runtime'
import { steady } from '../words/format.ts'

/** Makes each element of the dashboard: no text of others in it turns the words beside it. */
const jsx: typeof makeElement = (type, props, key) => makeElement(type, steadyProps(props), key)

/** The same for an element with several children. */
const jsxs: typeof makeElements = (type, props, key) => makeElements(type, steadyProps(props), key)

export { Fragment, jsx, jsxs }

/** Properties that a browser shows as text; the value of a field stays as it is. */
const SHOWN = ['children', 'title', 'aria-label', 'placeholder'] as const

function steadyProps(given: unknown): unknown {
  const props = { ...(given as Record<string, unknown>) }
  for (const name of SHOWN) if (props[name] !== undefined) props[name] = steadyChild(props[name])
  return props
}

function steadyChild(child: unknown): unknown {
  if (typeof child === 'string') return steady(child)
  return Array.isArray(child) ? child.map(steadyChild) : child
}
