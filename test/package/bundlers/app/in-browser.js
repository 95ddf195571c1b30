'use client'
import { useEffect, useState } from 'react'
import { verifyAll } from '../check.js'

export function InBrowser() {
  const [line, setLine] = useState('')
  useEffect(() => void verifyAll().then(setLine), [])
  return <p>{line}</p>
}
