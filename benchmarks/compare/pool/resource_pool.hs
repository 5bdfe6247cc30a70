-- Haskell's resource-pool: withResource around nothing. One stripe, so that all resources can be had by every thread, and two.
-- Churn: what is taken is destroyed, so that the next one is created. Same protocol as harness.hpp; -threaded, -O2.
module Main (main) where

import Control.Concurrent
import Control.Monad
import Data.List (sort)
import Data.Pool
import GHC.Clock (getMonotonicTimeNSec)
import System.Environment (getArgs)
import System.Exit

cases :: [(String, String, Int, Int, Int)]   -- case, subject, stripes, threads, resources per stripe
cases =
  [ ("pool/cycle_1t_4", "resource-pool", 1, 1, 4)
  , ("pool/cycle_2t_4", "resource-pool", 1, 2, 4)
  , ("pool/cycle_2t_4", "resource-pool, 2 stripes", 2, 2, 2)
  , ("pool/cycle_2t_2", "resource-pool", 1, 2, 2)
  , ("pool/cycle_2t_1", "resource-pool", 1, 2, 1)
  , ("pool/churn", "resource-pool", 1, 1, 4)
  ]

cycleN :: Pool Int -> Int -> IO ()
cycleN pool n = replicateM_ n (withResource pool (\r -> r `seq` return ()))

churnN :: Pool Int -> Int -> IO ()
churnN pool n = replicateM_ n (takeResource pool >>= \(r, stripe) -> destroyResource pool stripe r)

batch :: (Int -> IO ()) -> Int -> Int -> IO Double
batch body threads n = do
  ended <- replicateM threads newEmptyMVar
  go <- newEmptyMVar
  forM_ (zip [0 ..] ended) $ \(core, done) -> forkOn core $ do
    readMVar go
    body n
    putMVar done ()
  start <- getMonotonicTimeNSec
  putMVar go ()
  mapM_ takeMVar ended
  end <- getMonotonicTimeNSec
  return (fromIntegral (end - start) / fromIntegral threads)

option :: String -> String -> [String] -> String
option name other args = case dropWhile (/= name) args of
  (_ : value : _) -> value
  _ -> other

main :: IO ()
main = do
  args <- getArgs
  if "--list" `elem` args
    then forM_ cases $ \(c, s, _, _, _) -> putStrLn (c ++ "\t" ++ s ++ "\tpeer")
    else do
      let name = option "--case" "" args
          which = option "--subject" "resource-pool" args
          ms = read (option "--ms" "50" args) :: Int
      case [x | x@(c, s, _, _, _) <- cases, c == name, s == which] of
        [] -> exitWith (ExitFailure 1)
        ((_, _, stripes, threads, resources) : _) -> do
          setNumCapabilities threads
          pool <- createPool (return (1 :: Int)) (const (return ())) stripes 60 resources
          let slice = fromIntegral ms * 1e6 / 20 :: Double
              body = if name == "pool/churn" then churnN pool else cycleN pool
              grow n = do
                took <- batch body threads n
                if took < slice then grow (n * 2) else return n
          n <- grow 500
          begin <- getMonotonicTimeNSec
          let rounds done = do
                now <- getMonotonicTimeNSec
                if length done >= 5 && now - begin > fromIntegral ms * 1000000
                  then return done
                  else do
                    took <- batch body threads n
                    rounds (took / fromIntegral n : done)
          each <- rounds []
          let value = sort each !! (length each `div` 5)
          putStrLn (name ++ " " ++ show value ++ " " ++ show (length each * n * threads))
